import type { EngineMappingDiff } from '../../api/schema'
import { count, roughly } from '../../lib/duration'
import { bytes } from '../../lib/format'
import { useLanguage, type Key } from '../../lib/i18n'
import { Term } from '../term'

const tones: Record<string, string> = { none: 'good', in_place: 'good', needs_reindex: 'warn', conflict: 'bad' }

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** What a live index and a wanted one differ in, and what the change would cost. */
export function Diff({ diff }: { diff: EngineMappingDiff }) {
  const { t, language } = useLanguage()
  const changes = diff.changes ?? []
  const e = diff.estimate
  return (
    <>
      <p className="row">
        <span className={`tag ${tones[diff.class] ?? ''}`}>{t(`map.class.${diff.class}` as Key)}</span>
        <span className="mono quiet">{diff.index}</span>
        <span className="quiet">{t('map.estimate', { documents: count(e.documents, language), bytes: bytes(e.bytes), time: roughly(e.minutes * 60, language) })}</span>
      </p>
      {changes.length === 0 ? <p>{t('map.same')}</p> : (
        <div className="card scroll" tabIndex={0} role="region" aria-label={t('map.diff')}>
          <table className="grid-table">
            <thead>
              <tr>
                <th scope="col">{t('map.path')}</th>
                <th scope="col">{t('map.live')}</th>
                <th scope="col">{t('map.desired')}</th>
                <th scope="col"><Term name="change_class">{t('map.class')}</Term></th>
                <th scope="col">{t('map.reason')}</th>
              </tr>
            </thead>
            <tbody>
              {changes.map((c) => (
                <tr key={c.path}>
                  <th scope="row" className="mono">{c.path}</th>
                  <td className="mono removed">{c.live === undefined ? <span className="quiet">{t('map.absent')}</span> : shown(c.live)}</td>
                  <td className="mono added">{c.desired === undefined ? <span className="quiet">{t('map.absent')}</span> : shown(c.desired)}</td>
                  <td><span className={`tag ${tones[c.class] ?? ''}`}>{t(`map.class.${c.class}` as Key)}</span></td>
                  <td className="reason">{c.reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}
