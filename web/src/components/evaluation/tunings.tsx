import type { LibraryQuerySet, RunsTuning } from '../../api/schema'
import { useText } from '../../lib/i18n'
import { Link } from '../link'
import { State } from './state'

/** What was tuned, the latest first. */
export function Tunings({ tunings, sets }: { tunings: RunsTuning[]; sets: LibraryQuerySet[] }) {
  const t = useText()
  return (
    <div className="card scroll" tabIndex={0} role="region" aria-label={t('eval.view.tunings')}>
      <table className="grid-table done">
        <thead>
          <tr>
            <th scope="col">{t('tune.title')}</th>
            <th scope="col">{t('eval.set')}</th>
            <th scope="col">{t('bases.state')}</th>
            <th scope="col">{t('tune.verdict')}</th>
            <th scope="col">{t('map.when')}</th>
          </tr>
        </thead>
        <tbody>
          {tunings.map((u) => (
            <tr key={u.id}>
              <td><Link to={`/tune/${u.id}`}>{u.name || `${u.preset ?? ''} · ${u.metric ?? ''}`}</Link></td>
              <td>{sets.find((s) => s.id === u.query_set)?.name || u.query_set}</td>
              <td><State of={u.state} /></td>
              <td>
                {u.result ? <span className={`tag ${u.result.recommended ? 'good' : ''}`}>{t(u.result.recommended ? 'tune.verdict.better' : 'tune.verdict.none')}</span> : null}
              </td>
              <td className="quiet">{new Date(u.created_at).toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
