import type { CompareComparison } from '../api/schema'
import { number, percent } from '../lib/format'
import { useText } from '../lib/i18n'
import { Term } from './term'

/** How far the columns agree, pair by pair. */
export function Agreement({ comparison: c }: { comparison: CompareComparison }) {
  const t = useText()
  const columns = c.columns ?? []
  const pairs = columns.flatMap((_, a) => columns.slice(a + 1).map((__, i): [number, number] => [a, a + 1 + i]))
  const at = (m: ((number | null)[] | null)[] | null, [a, b]: [number, number]) => m?.[a]?.[b] ?? null
  return (
    <section className="agreement" aria-label={t('compare.agreement')}>
      <div className="scroll card" tabIndex={0} role="region" aria-label={t('compare.agreement.about')}>
        <table className="grid-table">
          <thead>
            <tr>
              <th scope="col">{t('compare.agreement')}</th>
              <th scope="col"><Term name="overlap">{t('compare.overlap', { k: c.top_k })}</Term></th>
              <th scope="col"><Term name="rbo">{t('compare.rbo')}</Term></th>
              <th scope="col"><Term name="kendall_tau">{t('compare.tau')}</Term></th>
            </tr>
          </thead>
          <tbody>
            {pairs.map((pair) => (
              <tr key={pair.join()}>
                <th scope="row">
                  <Name n={pair[0] + 1} label={columns[pair[0]]?.label} /> {t('compare.and')} <Name n={pair[1] + 1} label={columns[pair[1]]?.label} />
                </th>
                <td><Gauge share={at(c.overlap, pair)} text={at(c.overlap, pair) === null ? '–' : percent(at(c.overlap, pair) ?? 0)} /></td>
                <td><Gauge share={at(c.rbo, pair)} text={number(at(c.rbo, pair), 3)} /></td>
                <td className="tau">{number(at(c.kendall_tau, pair), 3)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** A column by number and label, for labels may be the same. */
const Name = ({ n, label }: { n: number; label?: string }) => <><span className="number">{n}</span> {label}</>

function Gauge({ share, text }: { share: number | null; text: string }) {
  return (
    <span className="gauge">
      <span className="gauge-bar" aria-hidden="true"><span style={{ width: `${(share ?? 0) * 100}%` }} /></span>
      {text}
    </span>
  )
}
