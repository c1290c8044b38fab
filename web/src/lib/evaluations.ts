// What the gateway keeps for telling which way to search is better.
import type { EvaluationList, JudgmentLists, QuerySets, RunsEvaluation, RunsSystem, SearchRequest, TuningList } from '../api/schema'
import { call } from './api'
import { useLoad } from './load'

export const useQuerySets = () => useLoad(['query sets'], (signal) => call<QuerySets>('GET', '/v1/query-sets', undefined, signal))
export const useJudgmentLists = () => useLoad(['judgment lists'], (signal) => call<JudgmentLists>('GET', '/v1/judgments', undefined, signal))
export const useEvaluations = () => useLoad(['evaluations'], (signal) => call<EvaluationList>('GET', '/v1/evaluations', undefined, signal),
  { poll: ({ evaluations }) => (evaluations.some((e) => e.state === 'running') ? 2000 : false) })
export const useTunings = () => useLoad(['tunings'], (signal) => call<TuningList>('GET', '/v1/tunings', undefined, signal),
  { poll: ({ tunings }) => (tunings.some((u) => u.state === 'running') ? 2000 : false) })

/** The metrics that may decide, with what each says in the texts. */
export const families = ['ndcg', 'mrr', 'recall', 'precision', 'hit', 'map'] as const
export type Family = (typeof families)[number]

/** The chosen metric first, then what else is worth a look at that depth. */
export const metricsAt = (family: string, k: number) =>
  [...new Set([family, 'ndcg', 'recall', 'mrr', 'hit', 'judged'])].map((f) => `${f}@${k}`)

/** Shares of keywords that a sweep tries. */
const shares = Array.from({ length: 11 }, (_, i) => i / 10)

const weighted = (preset: string, share: number) =>
  ({ preset, weights: { text: share, vector: Math.round((1 - share) * 100) / 100 } }) as Partial<SearchRequest>

/** One preset with its weight going from vectors to keywords. */
export const sweepOf = (preset: string): RunsSystem[] =>
  shares.map((share) => ({ name: `${preset} ${share.toFixed(1)}`, request: weighted(preset, share) as SearchRequest }))

/** The share of keywords of each system of a sweep, by its name; null: it is none. */
export function sweptIn(systems: RunsSystem[]): Map<string, number> | null {
  const presets = new Set(systems.map((s) => s.request.preset))
  const found = systems.map((s) => [s.name, s.request.weights?.text] as const)
  if (systems.length < 3 || presets.size > 1 || found.some(([, share]) => share === undefined)) return null
  return new Map(found.map(([name, share]) => [name, share!]))
}

/** The mean of a metric of a system, with its interval. */
export const measureOf = (e: RunsEvaluation, system: string, metric: string) =>
  e.results?.find((r) => r.system === system)?.metrics.find((m) => m.metric === metric)

/** Below this, a difference is hardly one of chance. */
const significant = 0.05

/**
 * How a system differs from the one that all are compared with; null: it is that one, or there is no result yet. Its p is
 * the one that is corrected for all that was tested together: the other would find a winner among enough losers.
 */
export function differenceIn(e: RunsEvaluation, system: string, metric: string) {
  const comparison = e.comparisons?.find((c) => c.system === system)
  const found = comparison?.differences?.find((d) => d.metric === metric)
  if (!comparison || !found) return null
  return { gain: found.difference, p: found.p_holm, sure: found.p_holm < significant, questions: comparison.queries, more: found.more, less: found.less }
}

/** What that says of the system. */
export function verdictOf(e: RunsEvaluation, system: string, metric: string) {
  const of = e.systems?.find((s) => s.name === system)
  const found = differenceIn(e, system, metric)
  if (!of || !found) return null
  return { of, ...found, better: found.sure && found.gain.mean > 0 }
}

/** What an evaluation is called: by people, or by what it compares; of many the first and the last. */
export function titleOf(e: Pick<RunsEvaluation, 'name' | 'systems'>): string {
  const names = (e.systems ?? []).map((s) => s.name)
  return e.name || (names.length > 4 ? `${names[0]} … ${names.at(-1)}` : names.join(' · '))
}
