// The URL is the state: what a page shows is a function of its address.
import { useCallback, useSyncExternalStore } from 'react'

const changed = 'hybridge:navigate'

function subscribe(listener: () => void) {
  addEventListener('popstate', listener)
  addEventListener(changed, listener)
  return () => {
    removeEventListener('popstate', listener)
    removeEventListener(changed, listener)
  }
}

export function navigate(url: string, replace = false) {
  if (url === location.pathname + location.search) return
  history[replace ? 'replaceState' : 'pushState'](null, '', url)
  dispatchEvent(new Event(changed))
}

export const usePath = () => useSyncExternalStore(subscribe, () => location.pathname)
const useQuery = () => useSyncExternalStore(subscribe, () => location.search)

export type Params = Record<string, string | string[] | null>

/** Changes parameters; null, '' and [] remove one. */
export function merged(search: string, change: Params): string {
  const params = new URLSearchParams(search)
  for (const [name, value] of Object.entries(change)) {
    params.delete(name)
    for (const v of Array.isArray(value) ? value : value ? [value] : []) params.append(name, v)
  }
  const text = params.toString()
  return text ? `?${text}` : ''
}

/** The parameters of the address and a way to change them. */
export function useParams(): [URLSearchParams, (change: Params, replace?: boolean) => void] {
  const search = useQuery()
  const set = useCallback((change: Params, replace = false) => {
    navigate(location.pathname + merged(location.search, change), replace)
  }, [])
  return [new URLSearchParams(search), set]
}
