import type { LibraryQuerySet, RunsEvaluation } from '../../api/schema'
import { measureOf, titleOf } from '../../lib/evaluations'
import { useText } from '../../lib/i18n'
import { Interval } from '../charts/interval'
import { Link } from '../link'
import { State } from './state'

/** The best system of an evaluation by its first metric. */
function bestOf(e: RunsEvaluation) {
  const metric = e.metrics?.[0] ?? ''
  const all = (e.results ?? []).flatMap((r) => {
    const measure = measureOf(e, r.system, metric)
    return measure ? [{ system: r.system, ...measure }] : []
  })
  return all.length > 0 ? all.reduce((a, b) => (b.mean > a.mean ? b : a)) : undefined
}

/** What was measured, the latest first. */
export function Evaluations({ evaluations, sets }: { evaluations: RunsEvaluation[]; sets: LibraryQuerySet[] }) {
  const t = useText()
  return (
    <div className="card scroll" tabIndex={0} role="region" aria-label={t('eval.list.title')}>
      <table className="grid-table done">
        <thead>
          <tr>
            <th scope="col">{t('eval.one')}</th>
            <th scope="col">{t('eval.set')}</th>
            <th scope="col">{t('bases.state')}</th>
            <th scope="col">{t('eval.best')}</th>
            <th scope="col">{t('map.when')}</th>
          </tr>
        </thead>
        <tbody>
          {evaluations.map((e) => {
            const best = bestOf(e)
            return (
              <tr key={e.id}>
                <td><Link to={`/evaluate/${e.id}`}>{titleOf(e)}</Link></td>
                <td>{sets.find((s) => s.id === e.query_set)?.name || e.query_set}</td>
                <td><State of={e.state} /></td>
                <td className="best-of">
                  {best ? <><strong>{best.system}</strong> <span className="quiet">{best.metric}</span> {best.mean.toFixed(3)} <Interval {...best} domain={[0, 1]} /></> : null}
                  {e.state === 'running' ? <span className="quiet">{t('eval.answered', { done: e.answered, all: e.searches })}</span> : null}
                </td>
                <td className="quiet">{new Date(e.created_at).toLocaleString()}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
