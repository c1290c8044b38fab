import { scaleLinear } from '@visx/scale'
import type { ReactNode } from 'react'
import { AxisLeft, Chart } from './frame'

export interface Item {
  id: string
  name: string
  value: number
}

interface Props {
  title: string
  about: string
  items: Item[]
  chosen?: string
  choose: (id: string) => void
  table: ReactNode
}

const height = 210
const pad = { left: 46, right: 4, top: 10, bottom: 10 }
const signed = (v: number) => (v > 0 ? '+' : '') + v.toFixed(Math.abs(v) < 0.1 && v !== 0 ? 2 : 1)

/** A bar for each item, up from the middle line for what was won and down for what was lost, the most won first. */
export function Differences({ title, about, items, chosen, choose, table }: Props) {
  const sorted = [...items].sort((a, b) => b.value - a.value)
  const [most, least] = [Math.max(0.05, ...items.map((i) => i.value)), Math.min(-0.05, ...items.map((i) => i.value))]
  return (
    <Chart title={title} about={about} height={height} table={table}>
      {(width) => {
        const inner = width - pad.left - pad.right
        const y = scaleLinear<number>({ domain: [most, least], range: [pad.top, height - pad.bottom] })
        const step = inner / Math.max(1, sorted.length)
        const thick = Math.min(22, Math.max(1, step * 0.72))
        return (
          <g transform={`translate(${pad.left} 0)`}>
            <AxisLeft scale={y} count={4} length={inner} format={signed} />
            {sorted.map((item, i) => {
              const [top, bottom] = [Math.min(y(item.value), y(0)), Math.max(y(item.value), y(0))]
              const tie = item.value === 0
              return (
                <g key={item.id} className={`bar-of${item.id === chosen ? ' chosen' : ''}`} onClick={() => choose(item.id)}>
                  <title>{`${item.name} ${signed(item.value)}`}</title>
                  <rect className="reach" x={i * step} y={pad.top} width={step} height={height - pad.top - pad.bottom} />
                  <rect className={tie ? 'tie' : item.value > 0 ? 'won' : 'lost'} x={i * step + (step - thick) / 2} width={thick} rx={Math.min(2, thick / 3)}
                    y={tie ? y(0) - 1.5 : top} height={tie ? 3 : Math.max(1, bottom - top)} />
                </g>
              )
            })}
            <line className="zero" x2={inner} y1={y(0)} y2={y(0)} />
          </g>
        )
      }}
    </Chart>
  )
}
