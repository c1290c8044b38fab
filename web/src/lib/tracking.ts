// What people do with answers is told to the gateway where it logs that, by the script that other pages use too.
import type { Index, SearchHit, SearchRequest } from '../api/schema'
import { call, headers } from './api'

interface Tracker {
  ids: { client_id: string; session_id: string }
  shown: (answer: { query_id: string; hits: SearchHit[] }, offset: number) => void
  clicked: (queryID: string, hit: SearchHit, position: number) => void
}

const script = '/events.js' // as it is served, so that nothing is bundled twice

async function start(): Promise<Tracker | null> {
  const { events } = await call<Index>('GET', '/', undefined, AbortSignal.timeout(3000)) // searches wait for it
  if (!events) return null
  const { track } = (await import(/* @vite-ignore */ script)) as { track: (options: object) => Tracker }
  return track({ headers: () => headers() })
}

// Without it, a page works as well.
const tracker = start().catch(() => null)

/** The request with who asks, where that is logged. */
export async function identified(request: SearchRequest): Promise<SearchRequest> {
  const t = await tracker
  return t ? ({ ...request, ...t.ids } as SearchRequest) : request
}

const told = new Set<string>() // of the answer that was shown last

/** Tells that an answer is on the screen; again for the same answer is nothing new. */
export async function shown(queryID: string, hits: SearchHit[], offset: number) {
  const t = await tracker
  if (!t || told.has(queryID)) return
  told.clear()
  told.add(queryID)
  t.shown({ query_id: queryID, hits }, offset)
}

/** Tells that a hit was opened, the first time. */
export async function clicked(queryID: string, hit: SearchHit, position: number) {
  const t = await tracker
  const of = `${queryID} ${position}`
  if (!t || told.has(of)) return
  told.add(of)
  t.clicked(queryID, hit, position)
}
