import { useCallback, useEffect, useReducer } from 'react'
import type { CatalogDescribed } from '../api/schema'
import { call } from './api'
import type { Choices } from './bases'
import { after, areShown, notBegun } from './first-steps'
import { useLoad } from './load'

const slot = 'hybridge.firstrun'

/** How many chunks there are; of so many knowledge bases that this would take long, nobody asks. */
async function chunksIn(bases: string[], signal: AbortSignal): Promise<number> {
  if (bases.length > 3) return Infinity
  const all = await Promise.all(bases.map((id) => call<CatalogDescribed>('GET', `/v1/knowledge-bases/${encodeURIComponent(id)}`, undefined, signal)))
  return all.reduce((sum, b) => sum + b.chunks, 0)
}

/** The first steps are shown where there was nothing to search when the page was opened, until they are done or dismissed. */
export function useFirstRun(list: Choices | undefined, look: () => void, found: boolean) {
  const ids = list?.bases.map((b) => b.id)
  const counted = useLoad(ids ? ['first run', ...ids] : null, (signal) => chunksIn(ids!, signal))
  const chunks = ids?.length === 0 ? 0 : counted.data
  const [steps, tell] = useReducer(after, undefined, () => notBegun(localStorage.getItem(slot) === 'off'))
  const { begun, asked } = steps
  useEffect(() => { if (chunks !== undefined) tell({ name: 'counted', chunks }) }, [chunks])
  useEffect(() => { if (found && begun) tell({ name: 'found' }) }, [found, begun])
  const { again: count } = counted
  const again = useCallback(() => {
    look()
    count()
  }, [look, count])
  const done = useCallback(() => tell({ name: 'done' }), [])
  const dismiss = () => {
    localStorage.setItem(slot, 'off')
    tell({ name: 'dismissed' })
  }
  return { shown: areShown(steps), missing: ids?.length === 0, chunks, asked, again, dismiss, done }
}
