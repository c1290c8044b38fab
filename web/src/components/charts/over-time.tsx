import { scaleLinear, scaleTime } from '@visx/scale'
import { AreaClosed, LinePath } from '@visx/shape'
import type { ReactNode } from 'react'
import type { Place } from './curve'
import { AxisBottom, AxisLeft, Chart, type Scale } from './frame'

interface Props {
  title: string
  about: string
  up: string
  /** By time, x in milliseconds. */
  places: Place[]
  /** What the value is held against. */
  line: number
  /** A time that is marked. */
  mark?: { x: number; name: string }
  format: (y: number) => string
  formatX: (x: number) => string
  table: ReactNode
}

const height = 260
const pad = { left: 60, right: 14, top: 22, bottom: 30 }

/**
 * A value with the band of its intervals over time. The first of them are so wide that they would flatten the
 * others: what is beyond the intervals of the later three quarters lies on the edge.
 */
export function OverTime({ title, about, up, places, line, mark, format, formatX, table }: Props) {
  const later = places.slice(Math.min(Math.floor(places.length / 4), places.length - 2))
  const [low, high] = [Math.min(line, ...later.map((p) => p.low)), Math.max(line, ...later.map((p) => p.high))]
  const room = (high - low || 1) * 0.06
  return (
    <Chart title={title} about={about} height={height} table={table}>
      {(width) => {
        const inner = Math.max(60, width - pad.left - pad.right)
        const time = scaleTime<number>({ domain: [places[0]!.x, places.at(-1)!.x], range: [0, inner] })
        const x: Scale = Object.assign((v: number) => time(v), { ticks: (count: number) => time.ticks(count).map(Number) })
        const y = scaleLinear<number>({ domain: [low - room, high + room], range: [height - pad.bottom, pad.top], clamp: true })
        return (
          <g transform={`translate(${pad.left} 0)`}>
            <AxisLeft scale={y} count={4} length={inner} format={format} />
            <g transform={`translate(0 ${height - pad.bottom})`}>
              <AxisBottom scale={x} count={Math.max(2, Math.min(8, Math.floor(inner / 90)))} length={0} format={formatX} />
            </g>
            <AreaClosed className="band" data={places} yScale={y} x={(p) => x(p.x)} y0={(p) => y(p.low)} y1={(p) => y(p.high)} />
            <line className="equals" x2={inner} y1={y(line)} y2={y(line)} />
            {mark ? (
              <g className="left-line">
                <line x1={x(mark.x)} x2={x(mark.x)} y1={pad.top} y2={height - pad.bottom} />
                <text x={x(mark.x) + (x(mark.x) > inner / 2 ? -5 : 5)} y={y(line) > height / 2 ? pad.top + 10 : height - pad.bottom - 6} textAnchor={x(mark.x) > inner / 2 ? 'end' : 'start'}>{mark.name}</text>
              </g>
            ) : null}
            <LinePath className="line" data={places} x={(p) => x(p.x)} y={(p) => y(p.y)} />
            {places.map((p) => (
              <circle key={p.x} className="place" cx={x(p.x)} cy={y(p.y)} r={places.length > 30 ? 2 : 3}>
                <title>{`${formatX(p.x)}: ${format(p.y)} [${format(p.low)}, ${format(p.high)}]`}</title>
              </circle>
            ))}
            <text className="axis-name" x={-pad.left + 4} y={12}>↑ {up}</text>
          </g>
        )
      }}
    </Chart>
  )
}
