import { scaleLinear, scaleLog } from '@visx/scale'
import type { ReactNode } from 'react'
import { AxisLeft, Chart } from './frame'

export interface Word {
  text: string
  chunks: number // that have it
  weight: number
}

interface Props {
  title: string
  about: string
  axes: [string, string]
  words: Word[]
  table: ReactNode
}

const height = 250
const pad = { left: 48, right: 16, top: 24, bottom: 44 }
const line = 13 // between two names

/** Puts names below each other that would lie on each other. */
function spread(names: { x: number; y: number; text: string }[]): { x: number; y: number; text: string }[] {
  const placed: { x: number; y: number; text: string }[] = []
  for (const name of [...names].sort((a, b) => a.y - b.y)) {
    let { x, y } = name
    for (const other of placed) {
      if (Math.abs(other.x - name.x) < 70 && y - other.y < line) [x, y] = [Math.max(x, other.x), other.y + line]
    }
    placed.push({ ...name, x, y })
  }
  return placed
}

/** What words weigh against how many chunks have them, which goes by powers of ten. */
export function Words({ title, about, axes: [across, up], words, table }: Props) {
  return (
    <Chart title={title} about={about} height={height} table={table}>
      {(width) => {
        const inner = Math.max(60, width - pad.left - pad.right)
        const most = Math.max(10, ...words.map((w) => w.chunks))
        const x = scaleLog<number>({ domain: [1, most], range: [30, inner - 60] })
        const at = (chunks: number) => (chunks < 1 ? 8 : x(chunks)) // no chunk: before the scale begins
        const y = scaleLinear<number>({ domain: [0, Math.max(...words.map((w) => w.weight), 1e-9) * 1.08], range: [height - pad.bottom, pad.top] })
        const tens = Array.from({ length: Math.floor(Math.log10(most)) + 1 }, (_, i) => 10 ** i)
        return (
          <g transform={`translate(${pad.left} 0)`}>
            <AxisLeft scale={y} count={4} length={inner} format={(v) => v.toFixed(2)} />
            <g className="axis" transform={`translate(0 ${height - pad.bottom})`}>
              {words.some((w) => w.chunks < 1) ? <text x={8} y={18} textAnchor="middle">0</text> : null}
              {tens.map((n) => <text key={n} x={x(n)} y={18} textAnchor="middle">{n.toLocaleString()}</text>)}
            </g>
            {words.map((w) => (
              <circle key={w.text} className={`place ${w.chunks < 1 ? 'cut' : ''}`} cx={at(w.chunks)} cy={y(w.weight)} r={4.5}>
                <title>{`${w.text}: ${w.weight.toFixed(3)}, ${w.chunks}`}</title>
              </circle>
            ))}
            {spread(words.map((w) => ({ x: at(w.chunks), y: y(w.weight), text: w.text }))).map((n) => (
              <text key={n.text} className="word-of" x={n.x + 9} y={n.y + 4}>{n.text}</text>
            ))}
            <text className="axis-name" x={inner} y={height - 6} textAnchor="end">{across} →</text>
            <text className="axis-name" x={-pad.left + 4} y={12}>↑ {up}</text>
          </g>
        )
      }}
    </Chart>
  )
}
