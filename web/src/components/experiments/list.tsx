import type { LiveExperiment } from '../../api/schema'
import { useText, type Key } from '../../lib/i18n'
import { Link } from '../link'

const tones: Partial<Record<LiveExperiment['state'], string>> = { running: 'good', stopped: 'warn' }

export function StateOf({ experiment: e }: { experiment: LiveExperiment }) {
  const t = useText()
  return <span className={`tag ${tones[e.state] ?? ''}`}>{t(`exp.state.${e.state}` as Key)}</span>
}

export const shortly = (when: string) => new Date(when).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** The experiments that the key sees, the latest first. */
export function Experiments({ experiments }: { experiments: LiveExperiment[] }) {
  const t = useText()
  return (
    <div className="card scroll" tabIndex={0} role="region" aria-label={t('exp.title')}>
      <table className="grid-table done">
        <thead>
          <tr>
            <th scope="col">{t('exp.one')}</th><th scope="col">{t('exp.variants')}</th><th scope="col">{t('exp.mode')}</th>
            <th scope="col">{t('bases.state')}</th><th scope="col">{t('exp.start')}</th><th scope="col">{t('exp.end')}</th>
          </tr>
        </thead>
        <tbody>
          {experiments.map((e) => (
            <tr key={e.id}>
              <td><Link to={`/experiments/${encodeURIComponent(e.id)}`}>{e.name || e.id}</Link></td>
              <td>{(e.variants ?? []).map((v) => v.name).join(' · ')}</td>
              <td>{t(`exp.mode.${e.mode}`)}</td>
              <td><StateOf experiment={e} /></td>
              <td className="quiet">{shortly(e.start)}</td>
              <td className="quiet">{shortly(e.stopped?.at ?? e.end)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
