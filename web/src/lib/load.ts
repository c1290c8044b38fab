import { useCallback, useEffect, useRef, useState } from 'react'
import { useLanguage } from './i18n'

export interface Loaded<T> {
  data: T | undefined
  error: Error | undefined
  loading: boolean
  again: () => void
}

/**
 * Loads whenever key changes, and in another language when that does; null loads
 * nothing. The last answer stays until the next has come, so that nothing jumps.
 */
export function useLoad<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>, delay = 0): Loaded<T> {
  const [state, setState] = useState<{ data?: T; error?: Error; loading: boolean }>({ loading: key !== null })
  const [turn, setTurn] = useState(0)
  const { language } = useLanguage()
  const latest = useRef(load)
  latest.current = load
  useEffect(() => {
    if (key === null) {
      setState({ loading: false })
      return
    }
    const abort = new AbortController()
    setState((s) => ({ data: s.data, error: s.error, loading: true }))
    const timer = setTimeout(() => {
      latest.current(abort.signal).then(
        (data) => {
          if (!abort.signal.aborted) setState({ data, loading: false })
        },
        (error: Error) => {
          if (!abort.signal.aborted) setState({ error, loading: false })
        },
      )
    }, delay)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [key, turn, delay, language])
  const again = useCallback(() => setTurn((n) => n + 1), [])
  return { data: state.data, error: state.error, loading: state.loading, again }
}
