import type { EvaluationRows } from '../api/schema'
import type { Bin } from '../components/charts/reliability'
import { call } from './api'

const most = 1000 // rows that are read
const bins = 10

/** Hits with what was said of them and whether somebody judged them relevant; a grade above 0 says so. */
export async function predictedIn(evaluation: string, system: string, signal?: AbortSignal): Promise<{ said: number; relevant: boolean }[]> {
  const pairs: { said: number; relevant: boolean }[] = []
  let after = ''
  for (let read = 0; read < most;) {
    const page = await call<EvaluationRows>('GET', `/v1/evaluations/${encodeURIComponent(evaluation)}/rows?${new URLSearchParams({ system, limit: '100', ...(after ? { after } : {}) })}`, undefined, signal)
    for (const row of page.rows) {
      for (const hit of row.hits) if (hit.relevance !== undefined && hit.grade !== null) pairs.push({ said: hit.relevance, relevant: hit.grade > 0 })
    }
    read += page.rows.length
    if (!page.next) break
    after = page.next
  }
  return pairs
}

/**
 * Ten bins of the same width, the empty ones left out, each with the share that came true and Wilson's 95 % interval of it
 * ("Probable inference, the law of succession, and statistical inference", JASA 1927).
 */
export function binned(pairs: { said: number; relevant: boolean }[]): Bin[] {
  return Array.from({ length: bins }, (_, i): Bin => {
    const of = pairs.filter((p) => Math.min(bins - 1, Math.floor(p.said * bins)) === i)
    const n = of.length
    const seen = of.filter((p) => p.relevant).length / n
    const z = 1.96
    const middle = (seen + z * z / (2 * n)) / (1 + z * z / n)
    const half = (z / (1 + z * z / n)) * Math.sqrt(seen * (1 - seen) / n + z * z / (4 * n * n))
    return { low: i / bins, high: (i + 1) / bins, count: n, predicted: of.reduce((sum, p) => sum + p.said, 0) / n, seen, from: middle - half, to: middle + half }
  }).filter((b) => b.count > 0)
}

/** The expected calibration error: how far what was said is from what came true, over all (Naeini, Cooper, Hauskrecht, AAAI 2015). */
export const errorOf = (all: Bin[]) => {
  const n = all.reduce((sum, b) => sum + b.count, 0)
  return n === 0 ? 0 : all.reduce((sum, b) => sum + (b.count / n) * Math.abs(b.seen - b.predicted), 0)
}
