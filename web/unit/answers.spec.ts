import { expect, test } from '@playwright/test'
import type { AnswerDone, AnswerSentence, SearchRequest } from '../src/api/schema'
import { ApiError } from '../src/lib/api'
import { eventsIn } from '../src/lib/events'
import { after, answerRequestOf, isOver, nothing, type Event } from '../src/lib/written'

const sentence = (text: string): Event => ({ name: 'sentence', data: { text } as AnswerSentence })
const told = (...events: Event[]) => events.reduce(after, nothing)

test('an answer grows by its sentences until it is done', () => {
  const w = told({ name: 'begun' }, sentence('One.'), sentence('Two.'))
  expect(w.sentences.map((s) => s.text)).toEqual(['One.', 'Two.'])
  expect(isOver(w)).toBe(false)
  expect(isOver(after(w, { name: 'done', data: {} as AnswerDone }))).toBe(true)
})

test('stopped, what was written stays, and nothing more is waited for', () => {
  const w = told(sentence('One.'), { name: 'stopped' })
  expect(w.sentences).toHaveLength(1)
  expect(isOver(w)).toBe(true)
})

test('an error keeps what was written, and a new question forgets both', () => {
  const w = told(sentence('One.'), { name: 'error', data: { status: 502, code: 'unavailable', detail: 'the model is away' } as never })
  expect(w.error).toBeInstanceOf(ApiError)
  expect(w.error).toMatchObject({ code: 'unavailable', detail: 'the model is away' })
  expect(w.sentences).toHaveLength(1)
  expect(isOver(w)).toBe(true)
  expect(after(w, { name: 'begun' })).toEqual(nothing)
})

test('what a later gateway tells changes nothing', () => {
  const w = told(sentence('One.'))
  expect(after(w, { name: 'thought', data: {} } as never)).toBe(w)
})

test('an answer is of the same hits: what only shows them is not asked', () => {
  const request = { query: 'q', knowledge_bases: ['docs'], top_k: 50, threshold: 'auto', offset: 10, limit: 10, explain: true, highlight: {}, facets: ['a'], did_you_mean: true }
  expect(answerRequestOf(request as unknown as SearchRequest)).toEqual({ query: 'q', knowledge_bases: ['docs'], top_k: 50, threshold: 'auto' })
})

test('events are told once they are whole, wherever the stream was cut', () => {
  const all = 'event: sentence\ndata: {"text":"a\\n\\nb"}\n\n: still here\n\nevent: done\ndata: {"x":\ndata: 1}\n\nevent: sen'
  for (let cut = 0; cut <= all.length; cut++) {
    const first = eventsIn(all.slice(0, cut))
    const then = eventsIn(first.rest + all.slice(cut))
    expect([...first.events, ...then.events]).toEqual([{ name: 'sentence', data: { text: 'a\n\nb' } }, { name: 'done', data: { x: 1 } }])
    expect(then.rest).toBe('event: sen')
  }
})
