import { useEffect, useRef } from 'react'
import type { EvaluationRows, RunsEvaluation, RunsHit, SearchRequest } from '../../api/schema'
import { call } from '../../lib/api'
import { useText } from '../../lib/i18n'
import { useLoad } from '../../lib/load'
import { Icon } from '../icons'
import { Link } from '../link'
import { Failure, Skeleton } from '../notice'

interface Props {
  evaluation: RunsEvaluation
  query: string
  systems: string[]
  close: () => void
}

/** A system as a column of Compare's address: preset, share of keywords, knowledge base, engine. */
const columnOf = (r?: Partial<SearchRequest>) => [r?.preset ?? '', r?.weights?.text ?? '', '', ...(r?.engine ? [r.engine] : [])].join('~')

const depth = 10

/** How two systems answered one question, hit by hit with the grades, and the ways to where more is told. */
export function QuestionDetail({ evaluation: e, query, systems, close }: Props) {
  const t = useText()
  const rows = useLoad(['rows of a question', e.id, query, ...systems], async (signal) =>
    (await Promise.all(systems.map((system) => call<EvaluationRows>('GET',
      `/v1/evaluations/${e.id}/rows?${new URLSearchParams({ system, query })}`, undefined, signal)))).flatMap((page) => page.rows))
  const heading = useRef<HTMLHeadingElement>(null)
  const text = rows.data?.[0]?.query === query ? rows.data[0].text : ''
  useEffect(() => {
    heading.current?.scrollIntoView({ block: 'nearest', behavior: 'instant' })
  }, [text])
  const requests = systems.map((s) => e.systems?.find((of) => of.name === s)?.request)
  const bases = [...new Set(rows.data?.flatMap((r) => r.hits.map((h) => h.knowledge_base)) ?? [])].map((kb): [string, string] => ['kb', kb])
  const search = new URLSearchParams([['q', text], ...bases, ['preset', requests[0]?.preset ?? '']])
  const compare = new URLSearchParams([['q', text], ...bases, ...requests.map((r): [string, string] => ['col', columnOf(r)])])
  return (
    <section className="card padded part detail" aria-label={t('eval.question')}>
      <div className="row between">
        <h2 ref={heading}>{text || '…'}</h2>
        <button type="button" className="tool" aria-label={t('app.close')} title={t('app.close')} onClick={close}><Icon name="close" /></button>
      </div>
      {rows.error ? <Failure error={rows.error} again={rows.again} /> : null}
      {!rows.data && !rows.error ? <Skeleton rows={1} /> : null}
      {text ? (
        <p className="row">
          <Link to={`/compare?${compare}`} className="button compact">{t('eval.question.compare')}</Link>
          <Link to={`/?${search}`} className="button compact">{t('eval.question.search', { system: systems[0] ?? '' })}</Link>
        </p>
      ) : null}
      <div className="sides-of">
        {(rows.data ?? []).map((row) => (
          <div key={row.system} className="part">
            <h3 className="label">{row.system}</h3>
            {row.error ? <p className="degraded small">{row.error}</p> : null}
            {row.hits.length === 0 && !row.error ? <p className="quiet small">{t('compare.empty')}</p> : null}
            <ol className="graded small">
              {row.hits.slice(0, depth).map((h) => (
                <li key={h.key}><span className="quiet">{h.rank}</span> <GradeOf hit={h} most={e.max_grade} /> <span className="clip mono" title={h.chunk_id}>{h.document_id}</span></li>
              ))}
            </ol>
          </div>
        ))}
      </div>
    </section>
  )
}

function GradeOf({ hit, most }: { hit: RunsHit; most: number }) {
  const t = useText()
  if (hit.grade === null) return <span className="tag" title={t('eval.unjudged.one')}>?</span>
  return <span className={`tag ${hit.grade === 0 ? 'bad' : hit.grade * 2 > most ? 'good' : 'warn'}`} title={t('judge.grade', { grade: hit.grade, most })}>{hit.grade}</span>
}
