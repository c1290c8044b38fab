import type { ExperimentsCurve, LiveExperiment } from '../../api/schema'
import { changeOf } from '../../lib/experiments'
import { useLanguage, type Key } from '../../lib/i18n'
import { localeOf } from '../../lib/languages'
import { useParams } from '../../lib/url'
import { OverTime } from '../charts/over-time'
import { Select } from '../field'

interface Props {
  experiment: LiveExperiment
  curves: ExperimentsCurve[]
}

const day = 86_400_000
const pairOf = (c: ExperimentsCurve) => `${c.variant}~${c.against}`

/** A preference as that for the other one, where most prefer that. */
function ofLiked(c: ExperimentsCurve): ExperimentsCurve {
  if (c.metric !== 'preference' || (c.points.at(-1)?.value ?? 1) >= 0.5) return c
  const other = (share: number | null) => (share === null ? null : 1 - share)
  const points = c.points.map((p) => ({ ...p, value: 1 - p.value, low: other(p.high), high: other(p.low) }))
  return { ...c, variant: c.against, against: c.variant, points }
}

/** How the difference that decides came to be what it is, with what every look would have shown. */
export function Course({ experiment: e, curves: told }: Props) {
  const { t, language } = useLanguage()
  const [params, setParams] = useParams()
  const curves = told.map(ofLiked)
  const c = curves.find((one) => pairOf(one) === params.get('pair')) ?? curves[0]
  const places = (c?.points ?? []).flatMap((p) => (p.low === null || p.high === null ? [] : [{ x: Date.parse(p.at), y: p.value, low: p.low, high: p.high, units: p.units }]))
  if (!c || places.length < 2) return null
  const locale = localeOf(language)
  const isShare = c.metric === 'preference'
  const percent = (v: number) => `${(v * 100).toFixed(1)} %`
  const format = isShare ? percent : (v: number) => (v === 0 ? '0' : changeOf(c.metric, v))
  const when = (x: number) => new Date(x).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const long = places.at(-1)!.x - places[0]!.x > 2 * day
  const tick = (x: number) => new Date(x).toLocaleString(locale, long ? { month: 'short', day: 'numeric' } : { day: 'numeric', hour: '2-digit', minute: '2-digit' })
  const title = isShare ? t('exp.curve.preferring', { variant: c.variant })
    : t('exp.curve.of', { variant: c.variant, against: c.against, metric: t(`exp.metric.${c.metric}` as Key) })
  const last = places.at(-1)!
  const holds = last.low <= c.even && last.high >= c.even
  const line = isShare ? '50 %' : '0'
  const said = c.left_at ? t(holds ? 'exp.curve.back' : 'exp.curve.left', { line, when: when(Date.parse(c.left_at)) }) : t('exp.curve.within', { line })
  return (
    <section className="part">
      <h2>{t('exp.curve')}</h2>
      {curves.length > 1 ? (
        <div className="choose">
          <Select label={t('exp.curve.pair')} value={pairOf(c)} choose={(pair) => setParams({ pair: pair === pairOf(curves[0]!) ? null : pair }, true)}
            options={curves.map((one) => ({ value: pairOf(one), label: `${one.variant} − ${one.against}` }))} />
        </div>
      ) : null}
      <div className="card padded">
        <OverTime title={title} about={`${title}. ${said}`} up={isShare ? t('exp.curve.share') : t('exp.difference')} places={places} line={c.even}
          mark={c.left_at ? { x: Date.parse(c.left_at), name: tick(Date.parse(c.left_at)) } : undefined} format={format} formatX={tick}
          table={(
            <>
              <thead>
                <tr>
                  <th scope="col">{t('exp.curve.when')}</th><th scope="col" className="num">{isShare ? t('exp.curve.share') : t('exp.difference')}</th>
                  <th scope="col" className="num">{t('eval.interval')}</th><th scope="col" className="num">{t(`exp.units.${e.unit}`)}</th>
                </tr>
              </thead>
              <tbody>
                {places.map((p) => (
                  <tr key={p.x}>
                    <th scope="row">{when(p.x)}</th><td className="num">{format(p.y)}</td><td className="num">[{format(p.low)}, {format(p.high)}]</td>
                    <td className="num">{p.units.toLocaleString()}</td>
                  </tr>
                ))}
              </tbody>
            </>
          )} />
        <p className="small said">{said} <span className="quiet">{t('exp.curve.about')}</span></p>
      </div>
    </section>
  )
}
