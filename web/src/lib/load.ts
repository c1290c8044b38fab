import { keepPreviousData, QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { useLanguage } from './i18n'

/** What was loaded; asked anew only by a page, never because the window got the focus. */
export const loads = new QueryClient({
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false, refetchOnReconnect: false, networkMode: 'always', gcTime: 0 } },
})

export interface Loaded<T> {
  data: T | undefined
  error: Error | undefined
  loading: boolean
  again: () => void
}

interface Ways<T> {
  /** How long to wait for the key to change once more, in milliseconds. */
  delay?: number
  /** How long after an answer to ask again, in milliseconds; false: no more. */
  poll?: (data: T) => number | false
}

/**
 * Loads whenever key changes, and in another language when that does; null loads
 * nothing. The last answer stays until the next has come, so that nothing jumps.
 * A key begins with the name of what is loaded: equal keys are loaded once.
 */
export function useLoad<T>(key: readonly unknown[] | null, load: (signal: AbortSignal) => Promise<T>, { delay = 0, poll }: Ways<T> = {}): Loaded<T> {
  const { language } = useLanguage()
  const { data, error, isFetching, refetch } = useQuery<T>({
    queryKey: [...(key ?? []), language],
    queryFn: async ({ signal }) => {
      if (delay > 0) await pause(delay, signal)
      return load(signal)
    },
    enabled: key !== null,
    placeholderData: key === null ? undefined : keepPreviousData,
    refetchInterval: ({ state }) => (poll && state.data !== undefined ? poll(state.data as T) : false),
  })
  const again = useCallback(() => void refetch(), [refetch])
  return { data: key === null ? undefined : data, error: error ?? undefined, loading: isFetching, again }
}

export interface Paged<T> {
  items: T[] | undefined
  error: Error | undefined
  loading: boolean
  /** Loads the next page; undefined: there is none. */
  more: (() => void) | undefined
  again: () => void
}

/** Loads a listing page by page; next is the after of the page behind, left out behind the last. */
export function usePaged<T>(key: readonly unknown[], load: (after: string, signal: AbortSignal) => Promise<{ items: T[]; next?: string }>): Paged<T> {
  const { language } = useLanguage()
  const { data, error, isFetching, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: [...key, language],
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  })
  const items = useMemo(() => data?.pages.flatMap((page) => page.items), [data])
  const next = useCallback(() => void fetchNextPage(), [fetchNextPage])
  const again = useCallback(() => void (data ? fetchNextPage() : refetch()), [data, fetchNextPage, refetch])
  return { items, error: error ?? undefined, loading: isFetching, more: hasNextPage ? next : undefined, again }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((go, stop) => {
    const timer = setTimeout(go, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      stop(signal.reason as Error)
    })
  })
}
