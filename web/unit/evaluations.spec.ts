import { expect, test } from '@playwright/test'
import type { RunsEvaluation } from '../src/api/schema'
import { sweepOf, sweptIn, titleOf, verdictOf } from '../src/lib/evaluations'

const evaluation = (mean: number, p_holm: number) => ({
  systems: [{ name: 'linear', request: { preset: 'linear' } }, { name: 'text', request: { preset: 'text' } }], against: 'linear',
  comparisons: [{ system: 'text', against: 'linear', queries: 40, differences: [{ metric: 'ndcg@10', difference: { mean, low: mean - 0.01, high: mean + 0.01 }, p_holm }] }],
}) as unknown as RunsEvaluation

test('what is better beyond chance may become the default, a chance or a loss may not', () => {
  expect(verdictOf(evaluation(0.05, 0.01), 'text', 'ndcg@10')).toMatchObject({ better: true, questions: 40, gain: { mean: 0.05 } })
  expect(verdictOf(evaluation(0.05, 0.2), 'text', 'ndcg@10')?.better).toBe(false)
  expect(verdictOf(evaluation(-0.05, 0.01), 'text', 'ndcg@10')?.better).toBe(false)
})

test('nobody wins against itself, or by a metric that was not measured', () => {
  expect(verdictOf(evaluation(0.05, 0.01), 'linear', 'ndcg@10')).toBeNull()
  expect(verdictOf(evaluation(0.05, 0.01), 'text', 'mrr@10')).toBeNull()
})

test('a sweep is known by its systems, with the share of keywords of each', () => {
  const systems = sweepOf('linear')
  expect(systems).toHaveLength(11)
  expect(sweptIn(systems)?.get('linear 0.3')).toBe(0.3)
  expect(sweptIn(evaluation(0, 1).systems!)).toBeNull()
  expect(titleOf({ systems })).toBe('linear 0.0 … linear 1.0')
})
