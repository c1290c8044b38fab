// The queue of uploads lives as long as the tab: no dialog and no page ends it.
import { useSyncExternalStore } from 'react'
import type { Found } from './dropped'
import { reasonOf, upload, type Progress } from './upload'
import { UploadQueue, type Upload, type Which } from './upload-queue'

export { isActive, isFailed, isOver, type Upload } from './upload-queue'

const queue = new UploadQueue()
const running = new Map<number, AbortController>()
const listeners = new Set<() => void>()

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function tell() {
  const { running, waiting } = queue.counts()
  if (running + waiting > 0) addEventListener('beforeunload', hold)
  else removeEventListener('beforeunload', hold)
  for (const hear of listeners) hear()
}

/** The browser asks before the tab is closed. */
const hold = (e: Event) => e.preventDefault()

export const useCounts = () => useSyncExternalStore(subscribe, () => queue.counts())

/** The ids, those first that one wants to see. */
export const useOrder = () => useSyncExternalStore(subscribe, () => queue.order())

export const useUpload = (id: number) => useSyncExternalStore(subscribe, () => queue.get(id))

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

/** Queues files for a knowledge base. A file takes the place of an earlier one of its name. */
export function enqueue(base: { id: string; name: string }, files: Found[]) {
  queue.add(base, files)
  dispatchEvent(new Event('hybridge:uploads')) // what shows them may not be loaded yet
  begin()
}

function begin() {
  for (const u of queue.start()) void run(u)
  tell()
}

async function run(u: Upload) {
  const abort = new AbortController()
  running.set(u.id, abort)
  let end: Partial<Upload> = { state: 'done' }
  try {
    const hear = (p: Partial<Progress>) => (queue.put(u.id, p), tell())
    await upload({ kb: u.kb, name: u.name, file: u.file, signal: abort.signal, tell: hear })
    if (queue.get(u.id)?.failed) end = { state: 'failed' }
  } catch (error) {
    end = { state: 'failed', reason: reasonOf(error, u.file), detail: error instanceof Error ? error.message : String(error) }
    if (abort.signal.aborted) end = { state: 'cancelled' }
  }
  running.delete(u.id)
  queue.put(u.id, end)
  written()
  begin()
}

export function cancel(which: Which) {
  for (const id of queue.cancel(which)) running.get(id)?.abort()
  tell()
}

export function retry(which: Which) {
  queue.retry(which)
  begin()
}

export function clear(which: Which) {
  queue.clear(which)
  tell()
}
