import { scaleLinear } from '@visx/scale'
import { LinePath } from '@visx/shape'
import type { ReactNode } from 'react'
import { AxisBottom, AxisLeft, Chart } from './frame'

export interface Ranked {
  id: string
  rank: number
  value: number
  /** Whether it is in the answer. */
  kept: boolean
}

interface Props {
  title: string
  about: string
  axes: [string, string]
  places: Ranked[]
  /** What cuts: a line across, and a line up behind the last that is answered with. */
  least?: { value: number; name: string }
  last?: { rank: number; name: string }
  table: ReactNode
}

const height = 230
const pad = { left: 44, right: 14, top: 22, bottom: 44 }

/** Values by rank, from 0 to 1; those that were cut are hollow. */
export function Series({ title, about, axes: [across, up], places, least, last, table }: Props) {
  return (
    <Chart title={title} about={about} height={height} table={table}>
      {(width) => {
        const inner = Math.max(60, width - pad.left - pad.right)
        const x = scaleLinear<number>({ domain: [1, Math.max(2, ...places.map((p) => p.rank))], range: [6, inner - 6] })
        const y = scaleLinear<number>({ domain: [0, 1], range: [height - pad.bottom, pad.top] })
        return (
          <g transform={`translate(${pad.left} 0)`}>
            <AxisLeft scale={y} count={5} length={inner} format={(v) => v.toFixed(1)} />
            <g transform={`translate(0 ${height - pad.bottom})`}>
              <AxisBottom scale={x} count={Math.min(10, places.length)} length={0} format={String} />
            </g>
            <LinePath className="line thin" data={places} x={(p) => x(p.rank)} y={(p) => y(p.value)} />
            {places.map((p) => (
              <circle key={p.id} className={`place ${p.kept ? '' : 'cut'}`} cx={x(p.rank)} cy={y(p.value)} r={places.length > 60 ? 2.5 : 3.5}>
                <title>{`${p.rank}: ${p.value.toFixed(3)}`}</title>
              </circle>
            ))}
            {least ? (
              <g className="cut-line">
                <line x1={0} x2={inner} y1={y(least.value)} y2={y(least.value)} />
                <text x={inner} y={y(least.value) - 5} textAnchor="end">{least.name}</text>
              </g>
            ) : null}
            {last ? (
              <g className="cut-line">
                <line x1={x(last.rank + 0.5)} x2={x(last.rank + 0.5)} y1={pad.top} y2={height - pad.bottom} />
                <text x={x(last.rank + 0.5) - 5} y={pad.top + 10} textAnchor="end">{last.name}</text>
              </g>
            ) : null}
            <text className="axis-name" x={inner} y={height - 6} textAnchor="end">{across} →</text>
            <text className="axis-name" x={-pad.left + 4} y={12}>↑ {up}</text>
          </g>
        )
      }}
    </Chart>
  )
}
