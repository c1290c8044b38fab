import '../../styles/charts.css'

interface Props {
  title: string
  /** What rows and columns are. */
  axes: [string, string]
  rows: string[]
  columns: string[]
  counts: number[][]
}

/** Counts of pairs, the more the darker. It is a table, so that it needs none beside it. */
export function HeatMap({ title, axes: [down, across], rows, columns, counts }: Props) {
  const most = Math.max(1, ...counts.flat())
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={title}>
      <table className="heat">
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col" className="corner">{down} ↓ · {across} →</th>
            {columns.map((c) => <th key={c} scope="col">{c}</th>)}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={row}>
              <th scope="row">{row}</th>
              {columns.map((c, j) => {
                const n = counts[i]?.[j] ?? 0
                return <td key={c} className={i === j ? 'same' : undefined} style={{ '--share': n / most } as React.CSSProperties}>{n || '·'}</td>
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
