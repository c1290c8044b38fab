import type { SearchExplainAnswer, SearchExplainRequest, SearchLegReport, SearchRequest } from '../api/schema'
import { call } from '../lib/api'
import { number, percent } from '../lib/format'
import { useLanguage, useText, type Key } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { isText, LegTable, legName, sharesOf } from './legs'
import { Failure, Skeleton } from './notice'

/** The same question about one chunk. Ids are looked for in the order of the knowledge bases, so its own is the first. */
function about(request: SearchRequest, kb: string, chunk: string): SearchExplainRequest {
  const { highlight: _, facets: __, facet_mode: ___, did_you_mean: ____, offset: _____, limit: ______, ...same } = request
  const bases = request.knowledge_bases ?? []
  return { ...same, knowledge_bases: bases.includes(kb) ? [kb, ...bases.filter((b) => b !== kb)] : bases, chunk_id: chunk }
}

interface Props {
  request: SearchRequest
  kb: string
  chunk: string
  label: string
}

/** Whether a chunk is in the answer to a question, and what brought it there or kept it out. */
export function Explanation({ request, kb, chunk, label }: Props) {
  const t = useText()
  const asked = about(request, kb, chunk)
  const { data, error, again } = useLoad(['explain', asked], async (signal) => ({
    chunk, answer: await call<SearchExplainAnswer>('POST', '/v1/explain', asked, signal),
  }))
  if (error) return <Failure error={error} again={again} />
  if (!data || data.chunk !== chunk) return <Skeleton rows={1} />
  return <Told answer={data.answer} label={`${t('why.title')} (${label})`} />
}

function Told({ answer, label }: { answer: SearchExplainAnswer; label: string }) {
  const { t, language } = useLanguage()
  const legs = answer.legs ?? []
  const given = legs.flatMap((l) => l.contribution ?? [])
  const hint = `why.hint.${answer.outcome}` as Key
  const found = answer.outcome === 'hit'
  return (
    <div className="told" role="status">
      <p>
        <strong className={found ? 'in' : 'out'}>{t(found ? 'why.in' : 'why.out')}</strong>{' '}
        {sentence(answer.detail, language)}
      </p>
      {hints.includes(answer.outcome) ? <p className="quiet">{t(hint)}</p> : null}
      {legs.length > 0 ? <ul>{legs.map((l) => <Leg key={l.leg} report={l} all={legs} />)}</ul> : null}
      {answer.rerank ? <p>{t('why.rerank', { score: number(answer.rerank.score) })}</p> : null}
      {(answer.degraded ?? []).map((d, i) => (
        <p key={i} className="quiet">{t('search.degraded.item', { leg: legName(d.leg, t), reason: d.reason })}</p>
      ))}
      {given.length > 0 ? <LegTable legs={given} sum={answer.raw_score} label={label} /> : null}
    </div>
  )
}

/** Outcomes that something can be done about. */
const hints: string[] = ['beyond_top_k', 'candidates', 'threshold', 'filtered', 'hidden'] satisfies SearchExplainAnswer['outcome'][]

/** What the gateway says, as a sentence. */
const sentence = (text: string, language: string) => text.charAt(0).toUpperCase() + text.slice(1) + (language === 'zh' ? '。' : '.')

/** What a leg has to do with it. */
function Leg({ report: { leg, raw, candidates, contribution, ...report }, all }: { report: SearchLegReport; all: SearchLegReport[] }) {
  const t = useText()
  const share = sharesOf(all.flatMap((l) => l.contribution ?? [])).find((s) => s.leg === leg)?.share ?? 0
  const rank = contribution?.rank ?? report.rank // a hit's own is the one that its table has
  const values = { leg: legName(leg, t), rank: rank ?? 0, candidates, value: number(raw), share: percent(share) }
  const said: Key = rank !== null
    ? share > 0 ? 'why.leg.found' : rank > candidates ? 'why.leg.beyond' : 'why.leg.candidate'
    : raw !== null ? 'why.leg.signal' : isText(leg) ? 'why.leg.words' : 'why.leg.none'
  return <li>{t(said, values)}</li>
}
