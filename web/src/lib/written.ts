// An answer of a language model as a machine: what is there of it after each event of its stream.
import type { AnswerDone, AnswerRequest, AnswerSentence, AnswerSources, Problem, SearchRequest, UnknownAnswer } from '../api/schema'
import { ApiError } from './api'

/** An answer as far as it has come. */
export interface Written {
  sources?: AnswerSources
  sentences: AnswerSentence[]
  unknown?: UnknownAnswer
  done?: AnswerDone
  error?: Error
  stopped: boolean
}

export const nothing: Written = { sentences: [], stopped: false }

export type Event =
  | { name: 'sources'; data: AnswerSources }
  | { name: 'sentence'; data: AnswerSentence }
  | { name: 'unknown'; data: UnknownAnswer }
  | { name: 'done'; data: AnswerDone }
  | { name: 'error'; data: Problem }
  | { name: 'failed'; data: Error }
  | { name: 'begun' | 'stopped' }

export function after(w: Written, e: Event): Written {
  switch (e.name) {
    case 'begun': return nothing
    case 'sources': return { ...w, sources: e.data }
    case 'sentence': return { ...w, sentences: [...w.sentences, e.data] }
    case 'unknown': return { ...w, unknown: e.data }
    case 'done': return { ...w, done: e.data }
    case 'error': return { ...w, error: new ApiError(e.data.status, e.data.code, e.data.detail, e.data.field) }
    case 'failed': return { ...w, error: e.data }
    case 'stopped': return { ...w, stopped: true }
    default: return w // of a later gateway
  }
}

export const isOver = (w: Written) => Boolean(w.done ?? w.error) || w.stopped

/** What of a search an answer is written from: the same hits, without what only shows them. */
export function answerRequestOf(r: SearchRequest): AnswerRequest {
  const { explain: _, highlight: __, facets: ___, facet_mode: ____, did_you_mean: _____, offset: ______, limit: _______, ...same } = r
  return same as AnswerRequest
}
