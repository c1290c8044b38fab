import { scaleLinear } from '@visx/scale'
import type { ReactNode } from 'react'
import { AxisBottom, AxisLeft, Chart } from './frame'

export interface Point {
  id: string
  name: string
  x: number
  y: number
}

interface Props {
  title: string
  about: string
  /** What the axes are, of x and of y; both go from 0 to 1. */
  axes: [string, string]
  points: Point[]
  chosen?: string
  choose: (id: string) => void
  table: ReactNode
}

const height = 320
const pad = { left: 46, right: 10, top: 12, bottom: 44 }

/** Points at the same place lie in a ring around it, so that none hides another. */
function placed(points: Point[]): { point: Point; dx: number; dy: number }[] {
  const there = new Map<string, number>()
  return points.map((point) => {
    const key = `${point.x.toFixed(3)} ${point.y.toFixed(3)}`
    const n = there.get(key) ?? 0
    there.set(key, n + 1)
    const angle = n * 2.4 // the golden angle
    const far = n === 0 ? 0 : 2.6 * Math.sqrt(n)
    return { point, dx: far * Math.cos(angle), dy: far * Math.sin(angle) }
  })
}

/** Two measures of each point against each other; above the line of equals y has more. */
export function Scatter({ title, about, axes: [across, up], points, chosen, choose, table }: Props) {
  const format = (v: number) => v.toFixed(1)
  return (
    <Chart title={title} about={about} height={height} table={table}>
      {(width) => {
        const side = Math.min(width - pad.left - pad.right, 460)
        const x = scaleLinear<number>({ domain: [0, 1], range: [0, side] })
        const y = scaleLinear<number>({ domain: [0, 1], range: [height - pad.bottom, pad.top] })
        return (
          <g transform={`translate(${pad.left} 0)`}>
            <AxisLeft scale={y} count={5} length={side} format={format} />
            <g transform={`translate(0 ${height - pad.bottom})`}>
              <AxisBottom scale={x} count={5} length={height - pad.bottom - pad.top} format={format} />
            </g>
            <line className="equals" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} />
            <text className="axis-name" x={side} y={height - 6} textAnchor="end">{across} →</text>
            <text className="axis-name" x={6} y={pad.top + 8}>↑ {up}</text>
            {placed(points).map(({ point: p, dx, dy }) => (
              <circle key={p.id} cx={x(p.x) + dx} cy={y(p.y) + dy} r={p.id === chosen ? 7 : 5} onClick={() => choose(p.id)}
                className={`dot-of ${p.y > p.x ? 'won' : p.y < p.x ? 'lost' : 'tie'}${p.id === chosen ? ' chosen' : ''}`}>
                <title>{`${p.name}: ${p.x.toFixed(3)} → ${p.y.toFixed(3)}`}</title>
              </circle>
            ))}
          </g>
        )
      }}
    </Chart>
  )
}
