import { expect, test } from '@playwright/test'
import type { CompareComparison, CompareQuestion } from '../src/api/schema'
import { Answers } from '../src/lib/answers'
import { ApiError } from '../src/lib/api'
import type { Choices } from '../src/lib/bases'
import { furtherColumn, halts, nextOf, readColumn, readCompare, writeColumn } from '../src/pages/compare-state'

const question = (...presets: string[]) => ({ query: 'q', knowledge_bases: ['docs'], columns: presets.map((preset) => ({ label: `as ${preset}`, preset })) }) as CompareQuestion

/** What the gateway answers to three columns; chunk b is in the last alone. */
const answer = {
  columns: ['text', 'vector', 'linear'].map((label) => ({ label, response: { hits: [] } })),
  overlap: [[null, 0.1, 0.2], [0.1, null, 0.3], [0.2, 0.3, null]],
  rbo: [[null, 0.1, 0.2], [0.1, null, 0.3], [0.2, 0.3, null]],
  kendall_tau: null,
  moves: [{ id: 'a', ranks: [1, 3, 2], moved: [0, -2, -1], unique: false }, { id: 'b', ranks: [null, null, 1], moved: [null, null, null], unique: true }],
} as unknown as CompareComparison

test('a column that is removed or moved asks nothing: the answer has it already', () => {
  const known = new Answers()
  known.add(question('text', 'vector', 'linear'), answer)
  const fewer = known.find(question('linear', 'text')) as CompareComparison
  expect(fewer.columns?.map((c) => c.label)).toEqual(['as linear', 'as text'])
  expect(fewer.rbo).toEqual([[null, 0.2], [0.2, null]])
  expect(fewer.moves).toEqual([
    { id: 'a', ranks: [2, 1], moved: [0, 1], unique: false },
    { id: 'b', ranks: [1, null], moved: [0, null], unique: true },
  ])
})

test('what is in no column any more is no move', () => {
  const known = new Answers()
  known.add(question('text', 'vector', 'linear'), answer)
  expect((known.find(question('text', 'vector')) as CompareComparison).moves?.map((m) => m.id)).toEqual(['a'])
})

test('a changed column asks, and so does another question', () => {
  const known = new Answers()
  known.add(question('text', 'vector'), answer)
  expect(known.find(question('text', 'rrf'))).toBeUndefined()
  expect(known.find({ ...question('text', 'vector'), query: 'other' })).toBeUndefined()
  expect(known.find(question('text', 'vector'))).toBe(answer)
})

test('an error is told for its own columns alone, and forgotten when it is tried again', () => {
  const known = new Answers()
  known.add(question('text', 'vector', 'linear'), new Error('away'))
  expect(known.find(question('text', 'vector', 'linear'))).toBeInstanceOf(Error)
  expect(known.find(question('text', 'vector'))).toBeUndefined()
  known.forgetErrors()
  expect(known.find(question('text', 'vector', 'linear'))).toBeUndefined()
})

test('of one question three answers are kept, the oldest goes', () => {
  const known = new Answers()
  const asked = ['text', 'vector', 'linear', 'rrf'].map((p) => question(p, 'script_score'))
  for (const q of asked) known.add(q, answer)
  expect(asked.map((q) => known.find(q) !== undefined)).toEqual([false, true, true, true])
})

test('what is shown is asked first, then the others in turn; paused, only what is shown', () => {
  const open = new Set([0, 1, 2, 3])
  expect(nextOf(open, 2, false)).toBe(2)
  open.delete(2)
  expect(nextOf(open, 2, false)).toBe(0)
  expect(nextOf(open, 2, true)).toBeUndefined()
  expect(nextOf(open, 3, true)).toBe(3)
  expect(nextOf(new Set(), 0, false)).toBeUndefined()
})

test('a gateway that fails ends the run, a question that it refuses does not', () => {
  for (const status of [0, 401, 403, 429, 500, 503]) expect(halts(new ApiError(status, '', '')), String(status)).toBe(true)
  for (const status of [400, 404, 422]) expect(halts(new ApiError(status, '', '')), String(status)).toBe(false)
  expect(halts(new Error('broken'))).toBe(true)
})

test('columns come back from the address as they went in', () => {
  for (const text of ['~~', 'text~~', 'rrf~0.3~', 'linear~1~docs', 'linear~~docs~elasticsearch']) expect(writeColumn(readColumn(text))).toBe(text)
  expect(readColumn('rrf~7~').weight).toBe(1)
  expect(readColumn('rrf~much~').weight).toBe(0)
})

test('an address without two columns has the three that everybody compares first, and never more than six', () => {
  expect(readCompare(new URLSearchParams('col=rrf~~')).columns.map((c) => c.preset)).toEqual(['', 'text', 'vector'])
  expect(readCompare(new URLSearchParams(Array(9).fill('col=rrf~~').join('&'))).columns).toHaveLength(6)
  expect(readCompare(new URLSearchParams('k=deep&at=-3'))).toMatchObject({ depth: 10, at: 0 })
})

test('a column that is added has a preset that none shows', () => {
  const choices = { presets: ['linear', 'rrf', 'text', 'vector'], standard: 'linear' } as Choices
  const columns = ['~~', 'text~~', 'vector~~'].map(readColumn)
  columns.push(furtherColumn(columns, choices))
  expect(columns.at(-1)?.preset).toBe('rrf')
  expect(furtherColumn(columns, choices).preset).toBe('') // all are shown
})
