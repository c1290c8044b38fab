import type { MappingHistory } from '../../api/schema'
import { useText, type Key } from '../../lib/i18n'

/** What was applied, when and by whom. */
export function History({ history }: { history?: MappingHistory }) {
  const t = useText()
  const list = history?.migrations ?? []
  return (
    <section className="part">
      <h2>{t('map.history')}</h2>
      {list.length === 0 ? <p className="quiet">{t('map.history.none')}</p> : (
        <div className="card scroll" tabIndex={0} role="region" aria-label={t('map.history')}>
          <table className="grid-table">
            <thead>
              <tr><th scope="col">{t('map.when')}</th><th scope="col">{t('map.who')}</th><th scope="col">{t('map.what')}</th><th scope="col">{t('bases.state')}</th></tr>
            </thead>
            <tbody>
              {list.map((m) => (
                <tr key={`${m.id} ${m.updated_at}`}>
                  <td>{new Date(m.started_at).toLocaleString()}</td>
                  <td>{m.started_by || '–'}</td>
                  <td>{(m.plan.diff.changes ?? []).map((c) => c.path).slice(0, 3).join(', ') || '–'}</td>
                  <td><span className="tag">{t(`map.state.${m.state}` as Key)}</span></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
