import { scaleLinear } from '@visx/scale'
import '../../styles/charts.css'

interface Props {
  mean: number
  low: number
  high: number
  /** What the bar's ends stand for, the same for all that are compared. */
  domain: [number, number]
  /** A line to hold it against. */
  line?: number
}

/** A mean within its interval, beside a text that says the same. */
export function Interval({ mean, low, high, domain, line }: Props) {
  const x = scaleLinear<number>({ domain, range: [4, 116] })
  return (
    <svg className="interval" width="120" height="18" viewBox="0 0 120 18" aria-hidden="true">
      {line === undefined ? null : <line className="against" x1={x(line)} x2={x(line)} y1="1" y2="17" />}
      <line className="range" x1={x(low)} x2={x(high)} y1="9" y2="9" />
      <circle cx={x(mean)} cy="9" r="4" />
    </svg>
  )
}
