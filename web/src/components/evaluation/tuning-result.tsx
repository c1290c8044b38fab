import type { TuneResult, TuneVariant } from '../../api/schema'
import { chanceOf } from '../../lib/format'
import { useText } from '../../lib/i18n'
import { Interval } from '../charts/interval'
import { Notice } from '../notice'

type Gain = { mean: number; low: number; high: number }

export const signed = (v: number, digits = 4) => (v < 0 ? '−' : '+') + Math.abs(v).toFixed(digits)
export const gainOf = (g: Gain) => `${signed(g.mean)} [${signed(g.low)}, ${signed(g.high)}]`

/** A variant on one line: what it is of, and what it says otherwise. */
export function variantOf({ preset, ...changed }: TuneVariant): string {
  return `${preset} ${Object.keys(changed).length > 0 ? JSON.stringify(changed) : ''}`.trim()
}

/** What a tuning found, as the command line prints it: what holds on questions that a variant was not chosen by comes first. */
export function TuningResult({ result: r }: { result: TuneResult }) {
  const t = useText()
  const gains = [...(r.sets ?? []), ...(r.folds ?? [])].map((s) => s.gain)
  const domain: [number, number] = [Math.min(0, ...gains.map((g) => g.low)), Math.max(0, ...gains.map((g) => g.high))]
  const by = (g: Gain) => <span className="measure"><Interval {...g} domain={domain} line={0} /> <span>{gainOf(g)}</span></span>
  return (
    <div className="outcome">
      <Notice title={r.recommended ? t('tune.better', { gain: gainOf(r.gain), p: chanceOf(r.p) }) : t('tune.not', { preset: r.preset, gain: gainOf(r.gain), p: chanceOf(r.p) })}
        tone={r.recommended ? 'good' : 'warning'}>
        {r.recommended ? <code className="mono">{variantOf(r.best)}</code> : null}
      </Notice>
      <p className="quiet small">
        {t('tune.tried', { questions: r.questions, tried: r.tried.toLocaleString(), seconds: r.seconds.toFixed(1), retrievals: r.retrievals, method: t(`tune.method.${r.method}` as 'tune.method.cmaes') })}
      </p>
      <section className="part">
        <h2>{t('tune.unseen')}</h2>
        <div className="card scroll" tabIndex={0} role="region" aria-label={t('tune.unseen')}>
          <table className="grid-table">
            <thead>
              <tr>
                <th scope="col">{t('eval.set')}</th><th scope="col" className="num">{t('tune.questions')}</th><th scope="col" className="num">{r.preset}</th>
                <th scope="col" className="num">{t('tune.tuned')}</th><th scope="col">{t('tune.difference')}</th><th scope="col" className="num">p</th>
              </tr>
            </thead>
            <tbody>
              {(r.sets ?? []).map((s) => (
                <tr key={s.set}>
                  <th scope="row" className="ink">{s.set}</th><td className="num">{s.questions}</td><td className="num">{s.start.toFixed(4)}</td>
                  <td className="num">{s.unseen.toFixed(4)}</td><td>{by(s.gain)}</td><td className="num">{chanceOf(s.p)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p className="quiet small">{t('tune.effect', { effect: signed(r.effect, 2), deviation: r.deviation.toFixed(4) })}</p>
      </section>
      <section className="part">
        <h2>{t('tune.folds')}</h2>
        <div className="card scroll" tabIndex={0} role="region" aria-label={t('tune.folds')}>
          <table className="grid-table">
            <thead>
              <tr>
                <th scope="col">{t('tune.fold')}</th><th scope="col" className="num">{t('tune.questions')}</th><th scope="col" className="num">{r.preset}</th>
                <th scope="col" className="num">{t('tune.tuned')}</th><th scope="col">{t('tune.difference')}</th><th scope="col">{t('tune.chosen')}</th>
              </tr>
            </thead>
            <tbody>
              {(r.folds ?? []).map((f, i) => (
                <tr key={i}>
                  <th scope="row">{f.family || i + 1}</th><td className="num">{f.questions}</td><td className="num">{f.start.toFixed(4)}</td>
                  <td className="num">{f.unseen.toFixed(4)}</td><td>{by(f.gain)}</td><td className="mono">{variantOf(f.variant)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p className="quiet small">{t('tune.seen', { seen: r.seen.toFixed(4) })} <code className="mono">{variantOf(r.best)}</code></p>
      </section>
    </div>
  )
}
