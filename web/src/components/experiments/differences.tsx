import type { ExperimentsDifference, LiveExperiment } from '../../api/schema'
import { differenceOf } from '../../lib/experiments'
import { chanceOf } from '../../lib/format'
import { useText, type Key } from '../../lib/i18n'
import { Interval } from '../charts/interval'

interface Props {
  experiment: LiveExperiment
  differences: ExperimentsDifference[]
}

/** By how much variants differ: in the metric that decides, and behind that in the others. */
export function DifferenceTable({ experiment: e, differences }: Props) {
  const t = useText()
  const metric = e.metric || 'click_through'
  const others = differences.filter((d) => d.metric !== metric)
  return (
    <section className="part">
      <h2>{t('exp.differences', { metric: t(`exp.metric.${metric}` as Key) })}</h2>
      <Table rows={differences.filter((d) => d.metric === metric)} label={t('exp.differences', { metric: t(`exp.metric.${metric}` as Key) })} />
      <p className="quiet small">{t('exp.differences.about')}</p>
      <details className="others">
        <summary>{t('exp.differences.others')}</summary>
        <Table rows={others} label={t('exp.differences.others')} named />
      </details>
    </section>
  )
}

function Table({ rows, label, named }: { rows: ExperimentsDifference[]; label: string; named?: boolean }) {
  const t = useText()
  return (
    <div className="card scroll" tabIndex={0} role="region" aria-label={label}>
      <table className="grid-table">
        <thead>
          <tr>
            {named ? <th scope="col">{t('exp.metric')}</th> : null}
            <th scope="col">{t('exp.variant.name')}</th><th scope="col">{t('exp.against')}</th><th scope="col">{t('exp.difference')}</th>
            <th scope="col" className="num" title={t('exp.p.about')}>p</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((d) => {
            const known = d.low !== null && d.high !== null
            const far = known ? Math.max(Math.abs(d.low!), Math.abs(d.high!)) : 0
            return (
              <tr key={`${d.metric} ${d.variant} ${d.against}`}>
                {named ? <th scope="row">{t(`exp.metric.${d.metric}` as Key)}</th> : null}
                <td>{d.variant}</td><td>{d.against}</td>
                <td>
                  <span className="measure">
                    {known && far > 0 ? <Interval mean={d.difference} low={d.low!} high={d.high!} domain={[-far, far]} line={0} /> : null}
                    <span>{differenceOf(d.metric, d.difference, d.low, d.high)}</span>
                  </span>
                </td>
                <td className="num">{chanceOf(d.p)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
