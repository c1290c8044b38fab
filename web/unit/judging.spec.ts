import { expect, test } from '@playwright/test'
import type { SearchHit } from '../src/api/schema'
import { actOf, after, gradedIn, openOf, type Done } from '../src/pages/judge-queue'

const hits = ['a', 'b', 'c'].map((id) => ({ knowledge_base: 'docs', id }) as SearchHit)
const [a, b, c] = hits as [SearchHit, SearchHit, SearchHit]
const did = (at: number, hit: SearchHit, grade: number | null) => ({ name: 'done', done: { at, hit, grade } }) as const
const told = (...events: Parameters<typeof after>[1][]) => events.reduce(after, [] as Done[])

test('a graded or skipped hit makes room for the next, of its question alone', () => {
  const done = told(did(0, a, 2), did(0, b, null))
  expect(openOf(hits, done, 0)).toEqual([c])
  expect(openOf(hits, done, 1)).toEqual(hits)
  expect(gradedIn(done)).toBe(1) // a skip is no judgment
})

test('undone step by step, hits come back, the last one first', () => {
  const done = told(did(0, a, 2), did(0, b, null), { name: 'undone' })
  expect(openOf(hits, done, 0)).toEqual([b, c])
  expect(openOf(hits, after(done, { name: 'undone' }), 0)).toEqual(hits)
  expect(told({ name: 'undone' })).toEqual([])
})

test('the same chunk of another knowledge base is another hit', () => {
  const other = { ...a, knowledge_base: 'other' }
  expect(openOf([a, other], told(did(0, a, 1)), 0)).toEqual([other])
})

test('begun anew, nothing was done', () => {
  expect(told(did(0, a, 2), did(1, b, 1), { name: 'begun' })).toEqual([])
})

test('keys grade as far as the list goes, and other letters do nothing', () => {
  expect(actOf('3', 3)).toEqual({ name: 'grade', grade: 3 })
  expect(actOf('0', 1)).toEqual({ name: 'grade', grade: 0 })
  expect(actOf('3', 2)).toBeNull()
  expect(['s', 'u', 'n'].map((key) => actOf(key, 3)?.name)).toEqual(['skip', 'undo', 'note'])
  for (const key of ['x', 'S', 'Enter', '10', 'toString']) expect(actOf(key, 3)).toBeNull()
})
