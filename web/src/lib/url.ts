// The URL is the state: what a page shows is a function of its address.
import { createContext, useCallback, useContext, useSyncExternalStore } from 'react'
import { merged, type Params } from './params'

export { merged, numberOf, type Params } from './params'

/** The address as the browser has it, and how many steps it is from where the tab began. */
const read = () => ({
  path: location.pathname,
  search: location.search,
  step: Number((history.state as { step?: number } | null)?.step ?? 0),
})

/** The address that is shown; the browser's is another one while a guard is asked about going back. */
let here = read()
const listeners = new Set<() => void>()

function arrive() {
  here = read()
  for (const hear of listeners) hear()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Is asked before something is left; go leaves it. */
export type Guard = (go: () => void) => void
const guards = new Set<Guard>()

const holdTab = (e: Event) => e.preventDefault()

/** Has a guard asked before the address changes, and the browser ask before the tab closes; returns what ends it. */
export function guardLeaving(guard: Guard): () => void {
  guards.add(guard)
  addEventListener('beforeunload', holdTab)
  return () => {
    guards.delete(guard)
    if (guards.size === 0) removeEventListener('beforeunload', holdTab)
  }
}

/** Goes when every guard lets go. */
export function leave(go: () => void, [guard, ...others] = [...guards]) {
  if (guard) guard(() => leave(go, others))
  else go()
}

export function navigate(url: string, replace = false) {
  if (url === here.path + here.search) return
  leave(() => {
    history[replace ? 'replaceState' : 'pushState']({ step: here.step + (replace ? 0 : 1) }, '', url)
    arrive()
  })
}

/** Whether the guards have let go of the step that the browser is about to take. */
let free = false

addEventListener('popstate', () => {
  const next = read()
  const steps = next.step - here.step
  const same = next.path === here.path && next.search === here.search
  if (free || same || steps === 0 || guards.size === 0) {
    free = false
    arrive()
    return
  }
  history.go(-steps) // the browser has gone already: back, until the guards let go
  leave(() => {
    free = true
    history.go(steps)
  })
})

export const usePath = () => useSyncExternalStore(subscribe, () => here.path)
export const useQuery = () => useSyncExternalStore(subscribe, () => here.search)

/** What the path of the page names, as list in /judge/:list. */
export const Place = createContext<Record<string, string>>({})
export const usePlace = () => useContext(Place)

/** The parameters of the address and a way to change them. */
export function useParams(): [URLSearchParams, (change: Params, replace?: boolean) => void] {
  const search = useQuery()
  const set = useCallback((change: Params, replace = false) => {
    navigate(here.path + merged(here.search, change), replace)
  }, [])
  return [new URLSearchParams(search), set]
}
