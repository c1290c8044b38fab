// Experiments: how they are loaded, and how their numbers are written.
import type { ExperimentList, ExperimentsReport, LiveEstimate, LiveExperiment, LivePlan } from '../api/schema'
import { call } from './api'
import { ms } from './format'
import { useLoad } from './load'

export const metrics = ['click_through', 'click_mrr', 'abandonment_rate', 'zero_result_rate', 'refused_rate', 'error_rate', 'latency_ms'] as const

export const pathOf = (id: string) => `/v1/experiments/${encodeURIComponent(id)}`

const isOpen = (e: LiveExperiment) => e.state === 'running' || e.state === 'scheduled'
const patience = 30_000 // milliseconds between two looks at what goes on

export const useExperiments = () => useLoad(['experiments'], (signal) => call<ExperimentList>('GET', '/v1/experiments', undefined, signal))

export const useExperiment = (id: string) => useLoad(['experiment', id], (signal) => call<LiveExperiment>('GET', pathOf(id), undefined, signal),
  { poll: (e) => (isOpen(e) ? patience : false) })

/** What is known of an experiment, looked at again while it runs: its tests allow that. */
export const useReport = (e: LiveExperiment | undefined) => useLoad(e ? ['experiment report', e.id, e.state] : null,
  (signal) => call<ExperimentsReport>('GET', `${pathOf(e!.id)}/report`, undefined, signal), { poll: () => (e!.state === 'running' ? patience : false) })

/** How long it would take, a moment after the last change; null asks nothing. */
export const useNeeded = (plan: LivePlan | null) => useLoad(plan ? ['needed', plan] : null,
  (signal) => call<LiveEstimate>('POST', '/v1/experiments/needed', plan, signal), { delay: 350 })

/** A value of a metric: milliseconds, a mean of 1/rank, or a rate in per cent. */
export function valueOf(metric: string, value: number): string {
  if (metric === 'latency_ms') return `${ms(value)} ms`
  return metric === 'click_mrr' ? value.toFixed(3) : `${(value * 100).toFixed(1)} %`
}

/** A difference of a metric, with its sign; that of rates is in points of a hundred. */
export const changeOf = (metric: string, by: number) => (by < 0 ? '−' : '+') + valueOf(metric, Math.abs(by)).replace(' %', '')

/** A difference with its interval, which may not be known yet. */
export function differenceOf(metric: string, by: number, low: number | null, high: number | null): string {
  return low === null || high === null ? changeOf(metric, by) : `${changeOf(metric, by)} [${changeOf(metric, low)}, ${changeOf(metric, high)}]`
}
