import type { ExperimentsPreference } from '../../api/schema'
import { chanceOf } from '../../lib/format'
import { useText } from '../../lib/i18n'
import { Interval } from '../charts/interval'

/** Which of two that stand in one list users prefer. */
export function PreferenceBar({ preference: p }: { preference: ExperimentsPreference }) {
  const t = useText()
  const rows: [string, number, string][] = [[p.first, p.wins, 'team-a'], [p.second, p.losses, 'team-b'], [t('exp.preference.none'), p.ties, 'tie']]
  const all = p.wins + p.losses + p.ties
  const per = (share: number) => `${(share * 100).toFixed(1)} %`
  const [liked, share, low, high] = p.share < 0.5 ? [p.second, 1 - p.share, 1 - p.high, 1 - p.low] : [p.first, p.share, p.low, p.high]
  return (
    <section className="part">
      <h2>{t('exp.preference')}</h2>
      <div className="card padded part">
        {all > 0 ? (
          <>
            <div className="preferred" aria-hidden="true">{rows.map(([name, n, tone]) => <span key={name} className={tone} style={{ flexGrow: n }} />)}</div>
            <ul className="row">{rows.map(([name, n, tone]) => <li key={name} className="small"><span className={`swatch ${tone}`} aria-hidden="true" />{name}: <strong>{n.toLocaleString()}</strong></li>)}</ul>
          </>
        ) : null}
        <p className="measure preference">
          <Interval mean={share} low={low} high={high} domain={[0, 1]} line={0.5} />
          <span>{t('exp.preference.share', { liked, share: per(share), low: per(low), high: per(high), p: chanceOf(p.p) })}</span>
        </p>
        <p className="quiet small">{t('exp.differences.about')}</p>
      </div>
    </section>
  )
}
