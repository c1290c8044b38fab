import { expect, test } from '@playwright/test'
import type { SearchHit } from '../src/api/schema'
import type { Choices } from '../src/lib/bases'
import { post, pre } from '../src/lib/marked'
import { merged } from '../src/lib/params'
import { basesOf, nearestOf, readState, requestOf, withBase, withNearest } from '../src/pages/search-state'

const base = (id: string, ...engines: string[]) => ({ id, engine: engines[0] ?? 'embedded', engines: engines.length > 0 ? engines : ['embedded'] })
const choices = { bases: [base('docs'), base('faq', 'embedded', 'elasticsearch'), base('notes')], presets: ['linear', 'text'], standard: 'linear' } as unknown as Choices
const stateOf = (search: string) => readState(new URLSearchParams(search))
const asked = (search: string) => requestOf(stateOf(search), choices) as unknown as Record<string, unknown>

test('an address that says nothing asks for all knowledge bases, ten hits of fifty', () => {
  expect(asked('q=refund')).toMatchObject({ query: 'refund', knowledge_bases: ['docs', 'faq', 'notes'], top_k: 50, offset: 0, limit: 10 })
  for (const name of ['preset', 'weights', 'filter', 'threshold', 'language', 'signals']) expect(asked('q=refund')).not.toHaveProperty(name)
})

test('a number that is none counts as left out, one beyond its bounds as the bound', () => {
  expect(asked('q=refund&size=many&per=&page=x&w=most')).toMatchObject({ top_k: 50, limit: 10, offset: 0 })
  expect(asked('q=refund&w=most')).not.toHaveProperty('weights')
  expect(asked('q=refund&size=9999&per=500&page=0')).toMatchObject({ top_k: 500, limit: 100, offset: 0 })
  expect(asked('q=refund&w=7')).toMatchObject({ weights: { text: 1, vector: 0 } })
})

test('no question and no knowledge base ask nothing', () => {
  expect(asked('q=++')).toBeNull()
  expect(asked('q=refund&kb=')).toBeNull()
  expect(asked('q=refund&kb=gone&kb=docs')).toMatchObject({ knowledge_bases: ['docs'] })
})

test('a weight is asked for only where there is something to weigh', () => {
  expect(asked('q=refund&w=0.3&preset=linear')).toMatchObject({ weights: { text: 0.3, vector: 0.7 } })
  expect(asked('q=refund&w=0.3&preset=text')).not.toHaveProperty('weights')
})

test('pages, filters and what is relevant are of the address', () => {
  expect(asked('q=r&page=3&per=20')).toMatchObject({ offset: 40, limit: 20 })
  expect(asked('q=r&f.team=red&f.team=blue&f.votes=3&doc=d1').filter).toEqual({ team: ['red', 'blue'], votes: ['3', 3], document_id: ['d1'] })
  expect(asked('q=r&relevant=1').threshold).toBe('auto')
  expect(asked('q=r&relevant=0').threshold).toEqual({ answerable: 0, relevance: 0 })
})

test('knowledge bases are chosen one by one; all is no parameter, none is an empty one', () => {
  expect(withBase('faq', false, stateOf(''), choices)).toEqual(['docs', 'notes'])
  expect(withBase('faq', true, stateOf('kb=docs&kb=notes'), choices)).toEqual([])
  expect(withBase('docs', false, stateOf('kb=docs'), choices)).toEqual([''])
  expect(withBase('docs', true, stateOf('kb='), choices)).toEqual(['docs'])
})

test('an engine leaves the knowledge bases that are on it', () => {
  expect(basesOf(stateOf('engine=elasticsearch'), choices)).toEqual(['faq'])
  expect(asked('q=r&engine=elasticsearch')).toMatchObject({ knowledge_bases: ['faq'], engine: 'elasticsearch' })
})

test('a parameter is changed, added and taken back, the others stay', () => {
  expect(merged('?q=a&kb=x', { q: 'b' })).toBe('?kb=x&q=b')
  expect(merged('?q=a', { kb: ['x', 'y'] })).toBe('?q=a&kb=x&kb=y')
  expect(merged('?q=a&kb=x&kb=y', { kb: [], q: null })).toBe('')
  expect(merged('', { kb: [''] })).toBe('?kb=') // none is chosen
})

const hit = (id: string, fragment: string, similarity: number | null = 0.9) => ({ knowledge_base: 'docs', id, highlights: [fragment], vector_similarity: similarity }) as SearchHit

test('the nearest sentence is asked for where a vector found a hit that no word is in', () => {
  const request = requestOf(stateOf('q=refund'), choices)!
  expect(nearestOf(request, [hit('a', `a ${pre}refund${post}`), hit('b', 'money back', null)])).toBeNull()
  const later = nearestOf(request, [hit('a', 'money back')])
  expect(later).toMatchObject({ query: 'refund', highlight: { nearest: true }, cache: false })
  expect(later).not.toHaveProperty('explain')
})

test('a nearest sentence replaces no words that are marked, and never the order', () => {
  const shown = [hit('a', `a ${pre}refund${post}`), hit('b', 'first words'), hit('c', 'first words')]
  const nearest = [hit('b', `the ${pre}nearest${post}`), hit('a', 'another')]
  expect(withNearest(shown, nearest).map((h) => h.highlights?.[0])).toEqual([`a ${pre}refund${post}`, `the ${pre}nearest${post}`, 'first words'])
})
