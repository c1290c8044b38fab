import type { RunsEvaluation } from '../../api/schema'
import { differenceIn, measureOf } from '../../lib/evaluations'
import { chanceOf, ms } from '../../lib/format'
import { useText } from '../../lib/i18n'
import { Interval } from '../charts/interval'

interface Props {
  evaluation: RunsEvaluation
  metric: string
  chosen: string
  choose: (system: string) => void
}

const signed = (v: number) => (v < 0 ? '−' : '+') + Math.abs(v).toFixed(3)

/** What each system reached, and how it stands beside the one that all are compared with. */
export function ResultTable({ evaluation: e, metric, chosen, choose }: Props) {
  const t = useText()
  const results = e.results ?? []
  const all = results.flatMap((r) => measureOf(e, r.system, metric) ?? [])
  const domain: [number, number] = [Math.min(...all.map((m) => m.low)), Math.max(...all.map((m) => m.high))]
  const best = Math.max(...all.map((m) => m.mean))
  const line = measureOf(e, e.against ?? '', metric)?.mean
  const others = (e.metrics ?? []).filter((m) => m !== metric)
  return (
    <div className="card scroll" tabIndex={0} role="region" aria-label={t('eval.results')}>
      <table className="grid-table measures">
        <thead>
          <tr>
            <th scope="col">{t('eval.system')}</th>
            <th scope="col">{metric}</th>
            <th scope="col" title={t('eval.p.about')}>{t('eval.difference', { against: e.against ?? '' })}</th>
            <th scope="col" className="num" title={t('eval.p.about')}>p</th>
            <th scope="col" className="num">{t('eval.wins')}</th>
            {others.map((m) => <th key={m} scope="col" className="num">{m}</th>)}
            <th scope="col" className="num" title={t('eval.time.about')}>{t('eval.time')}</th>
          </tr>
        </thead>
        <tbody>
          {results.map((r) => {
            const mean = measureOf(e, r.system, metric)
            const difference = differenceIn(e, r.system, metric)
            const sure = difference?.sure
            return (
              <tr key={r.system} className={r.system === chosen ? 'current' : undefined}>
                <th scope="row">
                  {r.system === e.against ? <span className="ink">{r.system}</span> : (
                    <button type="button" className="linkish ink" aria-current={r.system === chosen} onClick={() => choose(r.system)}>{r.system}</button>
                  )}
                  <Faults result={r} />
                </th>
                <td>
                  {mean ? (
                    <span className="measure" title={`[${mean.low.toFixed(4)}, ${mean.high.toFixed(4)}]`}>
                      <span className={mean.mean === best ? 'value best' : 'value'}>{mean.mean.toFixed(3)}</span>
                      <Interval mean={mean.mean} low={mean.low} high={mean.high} domain={domain} line={line} />
                      <span className="quiet small">[{mean.low.toFixed(3)}, {mean.high.toFixed(3)}]</span>
                    </span>
                  ) : '–'}
                </td>
                <td className="by">
                  {difference ? (
                    <span className={sure ? (difference.gain.mean > 0 ? 'gain' : 'loss') : 'quiet'}>
                      {signed(difference.gain.mean)} <span className="small">[{signed(difference.gain.low)}, {signed(difference.gain.high)}]</span>
                    </span>
                  ) : <span className="tag">{t('eval.against')}</span>}
                </td>
                <td className="num">{difference ? <span className={sure ? '' : 'quiet'}>{chanceOf(difference.p)}</span> : ''}</td>
                <td className="num">{difference ? <><span className="gain">{difference.more}</span> : <span className="loss">{difference.less}</span></> : ''}</td>
                {others.map((m) => <td key={m} className="num">{measureOf(e, r.system, m)?.mean.toFixed(3) ?? '–'}</td>)}
                <td className="num" title={t('eval.time.about')}>{ms(r.median_ms)} / {ms(r.p95_ms)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** What keeps a system's numbers from being trusted. */
function Faults({ result: r }: { result: NonNullable<RunsEvaluation['results']>[number] }) {
  const t = useText()
  return (
    <>
      {r.failed > 0 ? <> <span className="tag bad">{t('eval.failed', { count: r.failed })}</span></> : null}
      {r.degraded > 0 ? <> <span className="tag warn">{t('eval.degraded', { count: r.degraded })}</span></> : null}
      {r.changed > 0 ? <> <span className="tag warn" title={t('eval.changed.about')}>{t('eval.changed', { count: r.changed })}</span></> : null}
    </>
  )
}
