import type { RunsEvaluation } from '../../api/schema'
import { measureOf } from '../../lib/evaluations'
import { percent } from '../../lib/format'
import { useText } from '../../lib/i18n'
import { Curve } from '../charts/curve'

/** A metric against the share of keywords. */
export function Sweep({ evaluation, shares, metric }: { evaluation: RunsEvaluation; shares: Map<string, number>; metric: string }) {
  const t = useText()
  const places = [...shares].flatMap(([system, x]) => {
    const m = measureOf(evaluation, system, metric)
    return m ? [{ x, y: m.mean, low: m.low, high: m.high }] : []
  }).sort((a, b) => a.x - b.x)
  if (places.length < 2) return null
  const best = places.reduce((a, b) => (b.y > a.y ? b : a))
  const preset = evaluation.systems?.[0]?.request.preset ?? ''
  const said = t('eval.sweep.best', { percent: percent(best.x), metric, value: best.y.toFixed(3) })
  return (
    <section className="card padded">
      <Curve title={t('eval.sweep.title', { preset })} about={`${t('eval.sweep.title', { preset })}. ${said}`} axes={[t('eval.sweep.share'), metric]}
        places={places} formatX={percent}
        table={(
          <>
            <thead><tr><th scope="col">{t('eval.sweep.share')}</th><th scope="col" className="num">{metric}</th><th scope="col" className="num">{t('eval.interval')}</th></tr></thead>
            <tbody>
              {places.map((p) => (
                <tr key={p.x}><th scope="row">{percent(p.x)}</th><td className="num">{p.y.toFixed(4)}</td><td className="num">[{p.low.toFixed(4)}, {p.high.toFixed(4)}]</td></tr>
              ))}
            </tbody>
          </>
        )} />
      <p className="small said">{said} <span className="quiet">{t('eval.sweep.about')}</span></p>
    </section>
  )
}
