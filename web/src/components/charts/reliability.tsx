import { scaleLinear } from '@visx/scale'
import type { ReactNode } from 'react'
import { AxisBottom, AxisLeft, Chart } from './frame'

export interface Bin {
  low: number
  high: number
  count: number
  predicted: number // the mean of what was said
  seen: number // the share of what came true
  from: number // the interval of that share
  to: number
}

interface Props {
  title: string
  about: string
  axes: [string, string]
  bins: Bin[]
  table: ReactNode
}

const height = 320
const pad = { left: 46, right: 10, top: 22, bottom: 44 }

/** What was said against what came true, with intervals; what is true to its word lies on the line of equals. */
export function Reliability({ title, about, axes: [across, up], bins, table }: Props) {
  const format = (v: number) => v.toFixed(1)
  const most = Math.max(1, ...bins.map((b) => b.count))
  return (
    <Chart title={title} about={about} height={height} table={table}>
      {(width) => {
        const side = Math.min(width - pad.left - pad.right, 520)
        const x = scaleLinear<number>({ domain: [0, 1], range: [0, side] })
        const y = scaleLinear<number>({ domain: [0, 1], range: [height - pad.bottom, pad.top] })
        return (
          <g transform={`translate(${pad.left} 0)`}>
            <AxisLeft scale={y} count={5} length={side} format={format} />
            <g transform={`translate(0 ${height - pad.bottom})`}><AxisBottom scale={x} count={5} length={0} format={format} /></g>
            {bins.map((b) => { // how many each is of
              const tall = (b.count / most) * 46
              return <rect key={b.low} className="many" x={x(b.low) + 1} width={Math.max(1, x(b.high) - x(b.low) - 2)} y={height - pad.bottom - tall} height={tall} />
            })}
            <line className="equals" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} />
            {bins.map((b) => (
              <g key={b.low}>
                <line className="spread" x1={x(b.predicted)} x2={x(b.predicted)} y1={y(b.from)} y2={y(b.to)} />
                <circle className="place" cx={x(b.predicted)} cy={y(b.seen)} r={4.5}>
                  <title>{`${b.predicted.toFixed(2)} → ${b.seen.toFixed(2)} [${b.from.toFixed(2)}, ${b.to.toFixed(2)}], ${b.count}`}</title>
                </circle>
              </g>
            ))}
            <text className="axis-name" x={side} y={height - 6} textAnchor="end">{across} →</text>
            <text className="axis-name" x={-pad.left + 4} y={12}>↑ {up}</text>
          </g>
        )
      }}
    </Chart>
  )
}
