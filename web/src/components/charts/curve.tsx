import { scaleLinear } from '@visx/scale'
import { AreaClosed, LinePath } from '@visx/shape'
import type { ReactNode } from 'react'
import { AxisBottom, AxisLeft, Chart } from './frame'

export interface Place {
  x: number
  y: number
  low: number
  high: number
}

interface Props {
  title: string
  about: string
  axes: [string, string]
  /** By x, in its order. */
  places: Place[]
  formatX: (x: number) => string
  table: ReactNode
}

const height = 260
const pad = { left: 52, right: 14, top: 22, bottom: 46 }

/** A curve with the band of its intervals; its highest place is marked. */
export function Curve({ title, about, axes: [across, up], places, formatX, table }: Props) {
  const xs = places.map((p) => p.x)
  const best = places.reduce((a, b) => (b.y > a.y ? b : a))
  const [low, high] = [Math.min(...places.map((p) => p.low)), Math.max(...places.map((p) => p.high))]
  const room = Math.max(0.01, (high - low) * 0.06)
  return (
    <Chart title={title} about={about} height={height} table={table}>
      {(width) => {
        const inner = Math.max(60, width - pad.left - pad.right)
        const x = scaleLinear<number>({ domain: [Math.min(...xs), Math.max(...xs)], range: [0, inner] })
        const y = scaleLinear<number>({ domain: [Math.max(0, low - room), Math.min(1, high + room)], range: [height - pad.bottom, pad.top] })
        return (
          <g transform={`translate(${pad.left} 0)`}>
            <AxisLeft scale={y} count={4} length={inner} format={(v) => v.toFixed(high - low < 0.2 ? 2 : 1)} />
            <g transform={`translate(0 ${height - pad.bottom})`}>
              <AxisBottom scale={x} count={Math.min(10, Math.floor(inner / 56))} length={0} format={formatX} />
            </g>
            <AreaClosed className="band" data={places} yScale={y} x={(p) => x(p.x)} y0={(p) => y(p.low)} y1={(p) => y(p.high)} />
            <LinePath className="line" data={places} x={(p) => x(p.x)} y={(p) => y(p.y)} />
            {places.map((p) => (
              <circle key={p.x} className={`place${p === best ? ' best' : ''}`} cx={x(p.x)} cy={y(p.y)} r={p === best ? 5.5 : 3}>
                <title>{`${formatX(p.x)}: ${p.y.toFixed(4)} [${p.low.toFixed(4)}, ${p.high.toFixed(4)}]`}</title>
              </circle>
            ))}
            <text className="axis-name" x={inner} y={height - 6} textAnchor="end">{across} →</text>
            <text className="axis-name" x={-pad.left + 4} y={12}>↑ {up}</text>
          </g>
        )
      }}
    </Chart>
  )
}
