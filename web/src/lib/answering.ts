import { useCallback, useEffect, useReducer, useRef, useState } from 'react'
import type { AnswerDone, AnswerRequest, AnswerSentence, AnswerSources, Problem, SearchRequest, UnknownAnswer } from '../api/schema'
import { ApiError } from './api'
import { stream } from './events'
import { useLanguage } from './i18n'

/** An answer as far as it has come. */
export interface Written {
  sources?: AnswerSources
  sentences: AnswerSentence[]
  unknown?: UnknownAnswer
  done?: AnswerDone
  error?: Error
  stopped: boolean
}

/** A model is dear: what changes once more within so many milliseconds, as while typing, is not asked. */
const patience = 300

const nothing: Written = { sentences: [], stopped: false }

type Event =
  | { name: 'sources'; data: AnswerSources }
  | { name: 'sentence'; data: AnswerSentence }
  | { name: 'unknown'; data: UnknownAnswer }
  | { name: 'done'; data: AnswerDone }
  | { name: 'error'; data: Problem }
  | { name: 'failed'; data: Error }
  | { name: 'begun' | 'stopped' }

function after(w: Written, e: Event): Written {
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

/** Has a question answered, anew whenever it changes; leaving ends the request, and with it the model's. */
export function useAnswer(request: AnswerRequest) {
  const { language } = useLanguage()
  const [written, tell] = useReducer(after, nothing)
  const [turn, setTurn] = useState(0)
  const running = useRef<AbortController>(undefined)
  const asked = JSON.stringify(request)
  useEffect(() => {
    const abort = new AbortController()
    running.current = abort
    tell({ name: 'begun' })
    const begin = () => stream('POST', '/v1/answer', JSON.parse(asked), abort.signal, (name, data) => tell({ name, data } as Event))
      .catch((error: Error) => {
        if (abort.signal.aborted) return
        tell({ name: 'failed', data: error instanceof ApiError ? error : new ApiError(0, 'unreachable', '') })
      })
    const timer = setTimeout(() => void begin(), patience)
    abort.signal.addEventListener('abort', () => clearTimeout(timer))
    return () => abort.abort()
  }, [asked, language, turn])
  const stop = useCallback(() => {
    running.current?.abort()
    tell({ name: 'stopped' })
  }, [])
  const again = useCallback(() => setTurn((n) => n + 1), [])
  return { written, stop, again }
}
