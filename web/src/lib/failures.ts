// What fails after the dialog that asked for it was closed is kept until it has been seen.
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { Key } from './i18n'

/** What was to be done. */
export interface About {
  key: Key
  values: Record<string, string>
}

export interface Kept {
  about: About
  error: Error
}

let all: readonly Kept[] = []
const listeners = new Set<() => void>()

function set(next: readonly Kept[]) {
  all = next
  for (const hear of listeners) hear()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useKept = () => useSyncExternalStore(subscribe, () => all)

export const seen = (failure: Kept) => set(all.filter((f) => f !== failure))

/** The error of what a dialog does, for the dialog while it is open, else for every page. */
export function useFailure() {
  const [error, setError] = useState<Error>()
  const open = useRef(false)
  useEffect(() => {
    open.current = true
    return () => void (open.current = false)
  }, [])
  const fail = (about: About, e: Error) => (open.current ? setError(e) : set([...all, { about, error: e }]))
  return { error, fail, clear: () => setError(undefined) }
}
