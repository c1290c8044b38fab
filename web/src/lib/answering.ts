import { useCallback, useEffect, useReducer, useRef, useState } from 'react'
import type { AnswerRequest } from '../api/schema'
import { ApiError } from './api'
import { stream } from './events'
import { useLanguage } from './i18n'
import { after, nothing, type Event } from './written'

export { answerRequestOf, isOver, type Written } from './written'

/** A model is dear: what changes once more within so many milliseconds, as while typing, is not asked. */
const patience = 300

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
