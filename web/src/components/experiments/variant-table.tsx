import type { ExperimentsGroup, LiveExperiment } from '../../api/schema'
import { metrics, valueOf } from '../../lib/experiments'
import { useText } from '../../lib/i18n'
import { Interval } from '../charts/interval'

interface Props {
  experiment: LiveExperiment
  variants: ExperimentsGroup[]
}

const measured = (g: ExperimentsGroup, metric: string) => g.metrics?.find((m) => m.metric === metric)

/** Every metric of every variant. Of lists of two there is one column, as each list is of both. */
export function VariantTable({ experiment: e, variants }: Props) {
  const t = useText()
  const shareOf = (name?: string) => e.variants?.find((v) => v.name === name)
  const counted = e.mode === 'split'
  const units = variants.reduce((sum, v) => sum + v.units, 0)
  return (
    <section className="part">
      <h2>{t('exp.metrics')}</h2>
      <div className="card scroll" tabIndex={0} role="region" aria-label={t('exp.metrics')}>
        <table className="grid-table measures">
          <thead>
            <tr>
              <th scope="col">{t('exp.metric')}</th>
              {variants.map((v) => (
                <th key={v.name ?? ''} scope="col">
                  <span className="ink">{v.name || t('exp.lists')}</span>
                  {shareOf(v.name)?.request ? <code className="mono"> {JSON.stringify(shareOf(v.name)?.request)}</code> : null}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">{t(`exp.units.${e.unit}`)}</th>
              {variants.map((v) => (
                <td key={v.name ?? ''}>
                  {v.units.toLocaleString()}
                  {counted && units > 0 ? <span className="quiet small"> {t('exp.share.got', { got: share(v.units / units), want: share(shareOf(v.name)?.share ?? 0) })}</span> : null}
                </td>
              ))}
            </tr>
            <tr><th scope="row">{t('exp.searches')}</th>{variants.map((v) => <td key={v.name ?? ''}>{v.searches.toLocaleString()}</td>)}</tr>
            {metrics.map((m) => {
              const all = variants.flatMap((v) => measured(v, m) ?? [])
              const domain: [number, number] = [Math.min(...all.map((x) => x.low)), Math.max(...all.map((x) => x.high))]
              return (
                <tr key={m}>
                  <th scope="row">{t(`exp.metric.${m}`)}</th>
                  {variants.map((v) => {
                    const x = measured(v, m)
                    return (
                      <td key={v.name ?? ''}>
                        {x && v.searches > 0 ? (
                          <span className="measure">
                            {domain[1] > domain[0] ? <Interval mean={x.value} low={x.low} high={x.high} domain={domain} /> : null}
                            <span>{valueOf(m, x.value)} <span className="quiet">[{valueOf(m, x.low)}, {valueOf(m, x.high)}]</span></span>
                          </span>
                        ) : '–'}
                      </td>
                    )
                  })}
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      <p className="quiet small">{t('exp.metrics.about')}</p>
    </section>
  )
}

const share = (of: number) => `${(of * 100).toFixed(1)} %`
