import type { ReactNode } from 'react'
import type { EvaluationComparison, EvaluationQueryDifference } from '../../api/schema'
import { useText } from '../../lib/i18n'
import { Differences } from '../charts/differences'
import { Scatter } from '../charts/scatter'

interface Props {
  comparison: EvaluationComparison
  /** What both sides are called. */
  names: { system: string; against: string }
  chosen: string
  choose: (query: string) => void
  /** What is told of the chosen question. */
  children: ReactNode
}

const nameOf = (q: EvaluationQueryDifference) => q.text || q.query

/** Question by question: which were won and lost, by how much, and which are worst of all. */
export function ByQuestion({ comparison, names, chosen, choose, children }: Props) {
  const t = useText()
  const difference = comparison.differences?.[0]
  const queries = difference?.queries ?? []
  if (!difference || queries.length === 0) return null
  const { system, against } = names
  const metric = difference.metric
  const counts = { more: difference.more, less: difference.less, same: queries.length - difference.more - difference.less }
  const table = <Table queries={queries} names={names} chosen={chosen} choose={choose} />
  const about = t('eval.bars.about', { system, against, metric, ...counts })
  return (
    <>
      {system === against ? null : (
        <div className="charts">
          <section className="card padded">
            <Differences title={t('eval.bars', { system, against })} about={about} chosen={chosen} choose={choose} table={table}
              items={queries.map((q) => ({ id: q.query, name: nameOf(q), value: q.system - q.against }))} />
            <p className="small said">
              <span className="gain">{t('eval.bars.more', counts)}</span> · <span className="loss">{t('eval.bars.less', counts)}</span> · <span className="quiet">{t('eval.bars.same', counts)}</span>
            </p>
          </section>
          <section className="card padded">
            <Scatter title={t('eval.scatter', { metric })} about={`${t('eval.scatter', { metric })}: ${about}`} axes={[against, system]} chosen={chosen} choose={choose} table={table}
              points={queries.map((q) => ({ id: q.query, name: nameOf(q), x: q.against, y: q.system }))} />
          </section>
        </div>
      )}
      {children}
      <Worst queries={queries} names={names} metric={metric} chosen={chosen} choose={choose} />
    </>
  )
}

function Table({ queries, names, chosen, choose }: { queries: EvaluationQueryDifference[]; names: Props['names']; chosen: string; choose: (q: string) => void }) {
  const t = useText()
  return (
    <>
      <thead>
        <tr>
          <th scope="col">{t('compare.list.question')}</th>
          <th scope="col" className="num">{names.system}</th>
          <th scope="col" className="num">{names.against}</th>
          <th scope="col" className="num">±</th>
        </tr>
      </thead>
      <tbody>
        {queries.map((q) => (
          <tr key={q.query} className={q.query === chosen ? 'current' : undefined}>
            <td><button type="button" className="linkish" onClick={() => choose(q.query)}>{nameOf(q)}</button></td>
            <td className="num">{q.system.toFixed(3)}</td>
            <td className="num">{q.against.toFixed(3)}</td>
            <td className="num">{(q.system - q.against).toFixed(3)}</td>
          </tr>
        ))}
      </tbody>
    </>
  )
}

const most = 10

/** The questions that the system answers worst. */
function Worst({ queries, names, metric, chosen, choose }: Omit<Props, 'comparison' | 'children'> & { queries: EvaluationQueryDifference[]; metric: string }) {
  const t = useText()
  const worst = [...queries].sort((a, b) => a.system - b.system || a.system - a.against - (b.system - b.against)).slice(0, most)
  return (
    <section className="part">
      <h2>{t('eval.worst', { system: names.system })}</h2>
      <div className="card scroll" tabIndex={0} role="region" aria-label={t('eval.worst', { system: names.system })}>
        <table className="grid-table">
          <thead>
            <tr>
              <th scope="col">{t('compare.list.question')}</th>
              <th scope="col" className="num">{metric}</th>
              <th scope="col" className="num">{names.against}</th>
            </tr>
          </thead>
          <tbody>
            {worst.map((q) => (
              <tr key={q.query} className={q.query === chosen ? 'current' : undefined}>
                <td><button type="button" className="linkish" aria-current={q.query === chosen} onClick={() => choose(q.query)}>{nameOf(q)}</button></td>
                <td className="num">{q.system.toFixed(3)}</td>
                <td className="num">{q.against.toFixed(3)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
