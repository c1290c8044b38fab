import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useText } from '../../lib/i18n'
import '../../styles/charts.css'

interface ChartProps {
  title: string
  /** What the picture shows, for those who do not see it. */
  about: string
  height: number
  /** The numbers behind it, within a table element; a chart is never the only place of a number. */
  table: ReactNode
  children: (width: number) => ReactNode
}

/** A chart as wide as its place. The picture is one for screen readers, so what can be done with it can be done in its table too. */
export function Chart({ title, about, height, table, children }: ChartProps) {
  const t = useText()
  const holder = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    if (holder.current) watch.observe(holder.current)
    return () => watch.disconnect()
  }, [])
  return (
    <figure className="chart">
      <figcaption>{title}</figcaption>
      <div ref={holder} style={{ height }}>
        {width > 0 ? <svg role="img" aria-label={about} width={width} height={height}>{children(width)}</svg> : null}
      </div>
      <details>
        <summary>{t('chart.table')}</summary>
        <div className="scroll" tabIndex={0} role="region" aria-label={`${title}: ${t('chart.table')}`}>
          <table className="grid-table">{table}</table>
        </div>
      </details>
    </figure>
  )
}

/** Places on a scale, as those of visx are. */
export interface Scale {
  (value: number): number
  ticks: (count: number) => number[]
}

interface AxisProps {
  scale: Scale
  count: number // of ticks, about
  length: number // of the lines across
  format: (value: number) => string
}

/** Lines across with their numbers to the left of the origin. */
export function AxisLeft({ scale, count, length, format }: AxisProps) {
  return (
    <g className="axis">
      {scale.ticks(count).map((v) => (
        <g key={v} transform={`translate(0 ${scale(v)})`}>
          <line x2={length} />
          <text x={-8} dy=".32em" textAnchor="end">{format(v)}</text>
        </g>
      ))}
    </g>
  )
}

/** Lines up from the origin with their numbers below. */
export function AxisBottom({ scale, count, length, format }: AxisProps) {
  return (
    <g className="axis">
      {scale.ticks(count).map((v) => (
        <g key={v} transform={`translate(${scale(v)} 0)`}>
          <line y2={-length} />
          <text y={18} textAnchor="middle">{format(v)}</text>
        </g>
      ))}
    </g>
  )
}
