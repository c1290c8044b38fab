// The queue of uploads lives as long as the tab: no dialog and no page ends it.
import { useSyncExternalStore } from 'react'
import type { Found } from './dropped'
import type { Key } from './i18n'
import { reasonOf, upload, type Progress } from './upload'

export type State = 'waiting' | Progress['state'] | 'done' | 'failed' | 'cancelled'

export interface Upload extends Omit<Progress, 'state'> {
  id: number
  kb: string
  base: string // the name of the knowledge base
  name: string
  file: File
  state: State
  reason?: Key
  detail?: string // in the gateway's words
}

/** The gateway embeds one batch at a time anyway; the second request has its next at hand. */
const atOnce = 2

const uploads = new Map<number, Upload>()
const running = new Map<number, AbortController>()
const listeners = new Set<() => void>()
let lastId = 0

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

// What is derived is made when it is asked for after a change of state: progress,
// which comes often, changes the upload alone.
let counts: Record<Group, number> | undefined
let order: number[] | undefined

function stateChanged() {
  counts = order = undefined
}

const countsNow = () => (counts ??= count())

function tell() {
  const { running, waiting } = countsNow()
  if (running + waiting > 0) addEventListener('beforeunload', hold)
  else removeEventListener('beforeunload', hold)
  for (const hear of listeners) hear()
}

/** The browser asks before the tab is closed. */
const hold = (e: Event) => e.preventDefault()

const fresh = { sent: 0, done: 0, all: 0, unchanged: false, failures: [], failed: 0, reason: undefined, detail: undefined }

function put(u: Upload, part: Partial<Upload>) {
  const before = uploads.get(u.id)
  if (!before) return
  uploads.set(u.id, { ...before, ...part })
  if (part.state && part.state !== before.state) stateChanged()
}

type Group = 'running' | 'failed' | 'waiting' | 'cancelled' | 'done'
const groups: Group[] = ['running', 'failed', 'waiting', 'cancelled', 'done']
const groupOf = (u: Upload): Group => (u.state === 'sending' || u.state === 'working' ? 'running' : u.state)

export const isActive = (u: Upload) => u.state === 'waiting' || groupOf(u) === 'running'
export const isFailed = (u: Upload) => u.state === 'failed'
export const isOver = (u: Upload) => u.state === 'done' || u.state === 'cancelled'

function count() {
  const all = { running: 0, failed: 0, waiting: 0, cancelled: 0, done: 0 }
  for (const u of uploads.values()) all[groupOf(u)]++
  return all
}

function sorted() {
  const place = (id: number) => groups.indexOf(groupOf(uploads.get(id) as Upload))
  return [...uploads.keys()].sort((a, b) => place(a) - place(b))
}

export const useCounts = () => useSyncExternalStore(subscribe, countsNow)

/** The ids, those first that one wants to see. */
export const useOrder = () => useSyncExternalStore(subscribe, () => (order ??= sorted()))

export const useUpload = (id: number) => useSyncExternalStore(subscribe, () => uploads.get(id))

// Knowledge bases are counted anew while files come in, but not for each.
const countEvery = 2000
let turn = 0
let counted = 0
let due: ReturnType<typeof setTimeout> | undefined

function written() {
  due ??= setTimeout(() => {
    due = undefined
    counted = Date.now()
    turn++
    tell()
  }, Math.max(0, counted + countEvery - Date.now()))
}

/** Another number when files have been written since, at most every two seconds. */
export const useWritten = () => useSyncExternalStore(subscribe, () => turn)

const sameDocument = (a: { kb: string; name: string }) => `${a.kb}\n${a.name}`

/** Queues files for a knowledge base. A file takes the place of an earlier one of its name. */
export function enqueue(base: { id: string; name: string }, files: Found[]) {
  const earlier = new Map([...uploads.values()].filter((u) => groupOf(u) !== 'running').map((u) => [sameDocument(u), u.id]))
  for (const { file, name } of files) {
    const u: Upload = { ...fresh, id: ++lastId, kb: base.id, base: base.name, name, file, state: 'waiting' }
    uploads.delete(earlier.get(sameDocument(u)) ?? 0)
    earlier.set(sameDocument(u), u.id)
    uploads.set(u.id, u)
  }
  dispatchEvent(new Event('hybridge:uploads')) // what shows them may not be loaded yet
  begin()
}

/** Starts what may start. Of one document only one is under way. */
function begin() {
  const busy = new Set([...running.keys()].map((id) => sameDocument(uploads.get(id) as Upload)))
  for (const u of uploads.values()) {
    if (running.size >= atOnce) break
    if (u.state !== 'waiting' || busy.has(sameDocument(u))) continue
    busy.add(sameDocument(u))
    void run(u)
  }
  stateChanged()
  tell()
}

async function run(u: Upload) {
  const abort = new AbortController()
  running.set(u.id, abort)
  put(u, { state: 'sending' })
  let end: Partial<Upload> = { state: 'done' }
  try {
    const hear = (p: Partial<Progress>) => (put(u, p), tell())
    await upload({ kb: u.kb, name: u.name, file: u.file, signal: abort.signal, tell: hear })
    if (uploads.get(u.id)?.failed) end = { state: 'failed' }
  } catch (error) {
    end = { state: 'failed', reason: reasonOf(error, u.file), detail: error instanceof Error ? error.message : String(error) }
    if (abort.signal.aborted) end = { state: 'cancelled' }
  }
  running.delete(u.id)
  put(u, end)
  written()
  begin()
}

type Which = (u: Upload) => boolean

export function cancel(which: Which) {
  for (const u of uploads.values()) {
    if (!which(u)) continue
    running.get(u.id)?.abort()
    if (u.state === 'waiting') put(u, { state: 'cancelled' })
  }
  tell()
}

export function retry(which: Which) {
  for (const u of uploads.values()) {
    if (which(u) && !isActive(u)) uploads.set(u.id, { ...u, ...fresh, state: 'waiting' })
  }
  begin()
}

/** Takes what has ended off the list. */
export function clear(which: Which) {
  for (const u of uploads.values()) {
    if (which(u) && !isActive(u)) uploads.delete(u.id)
  }
  stateChanged()
  tell()
}
