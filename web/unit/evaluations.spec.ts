import { expect, test } from '@playwright/test'
import type { RunsEvaluation } from '../src/api/schema'
import { differenceIn, sweepOf, sweptIn, titleOf, verdictOf } from '../src/lib/evaluations'

const evaluation = (mean: number, p_holm: number) => ({
  systems: [{ name: 'linear', request: { preset: 'linear' } }, { name: 'text', request: { preset: 'text' } }], against: 'linear',
  comparisons: [{ system: 'text', against: 'linear', queries: 40, differences: [{ metric: 'ndcg@10', difference: { mean, low: mean - 0.01, high: mean + 0.01 }, p_holm }] }],
}) as unknown as RunsEvaluation

test('what is better beyond chance may become the default, a chance or a loss may not', () => {
  expect(verdictOf(evaluation(0.05, 0.01), 'text', 'ndcg@10')).toMatchObject({ better: true, questions: 40, gain: { mean: 0.05 } })
  expect(verdictOf(evaluation(0.05, 0.2), 'text', 'ndcg@10')?.better).toBe(false)
  expect(verdictOf(evaluation(-0.05, 0.01), 'text', 'ndcg@10')?.better).toBe(false)
})

test('of three variants and two metrics each has the p that is corrected for all six', () => {
  const difference = (metric: string, p: number, p_holm: number) => ({ metric, difference: { mean: 0.1, low: 0.01, high: 0.2 }, p, p_holm, more: 9, less: 4 })
  const e = {
    systems: ['base', 'one', 'two', 'three'].map((name) => ({ name, request: {} })), against: 'base',
    comparisons: ['one', 'two', 'three'].map((system, i) => ({
      system, against: 'base', queries: 40, differences: [difference('ndcg@10', 0.01 + i / 100, 0.06 + i / 100), difference('mrr@10', 0.001, i === 1 ? 0.05 : 0.0499)],
    })),
  } as unknown as RunsEvaluation
  for (const [i, system] of ['one', 'two', 'three'].entries()) {
    expect(differenceIn(e, system, 'ndcg@10')).toEqual({ gain: { mean: 0.1, low: 0.01, high: 0.2 }, p: 0.06 + i / 100, sure: false, questions: 40, more: 9, less: 4 })
    expect(verdictOf(e, system, 'ndcg@10')).toMatchObject({ p: 0.06 + i / 100, better: false })
    expect(verdictOf(e, system, 'mrr@10')?.better).toBe(system !== 'two') // 0.05 itself is not below it
  }
  expect(differenceIn(e, 'base', 'ndcg@10')).toBeNull()
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
