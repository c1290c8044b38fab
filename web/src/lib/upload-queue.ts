// The queue of uploads as a machine: what waits, what may start, what became of it. It sends nothing itself.
import type { Found } from './dropped'
import type { Key } from './i18n'
import type { Progress } from './upload'

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

const fresh = { sent: 0, done: 0, all: 0, unchanged: false, failures: [], failed: 0, reason: undefined, detail: undefined }

export type Group = 'running' | 'failed' | 'waiting' | 'cancelled' | 'done'
const groups: Group[] = ['running', 'failed', 'waiting', 'cancelled', 'done']
const groupOf = (u: Upload): Group => (u.state === 'sending' || u.state === 'working' ? 'running' : u.state)

export const isActive = (u: Upload) => u.state === 'waiting' || groupOf(u) === 'running'
export const isFailed = (u: Upload) => u.state === 'failed'
export const isOver = (u: Upload) => u.state === 'done' || u.state === 'cancelled'

export type Which = (u: Upload) => boolean

const sameDocument = (a: { kb: string; name: string }) => `${a.kb}\n${a.name}`

export class UploadQueue {
  private uploads = new Map<number, Upload>()
  private lastId = 0
  // What is derived is made when it is asked for after a change of state: progress, which comes often, changes the upload alone.
  private counted: Record<Group, number> | undefined
  private ordered: number[] | undefined

  get(id: number): Upload | undefined {
    return this.uploads.get(id)
  }

  counts(): Record<Group, number> {
    if (!this.counted) {
      this.counted = { running: 0, failed: 0, waiting: 0, cancelled: 0, done: 0 }
      for (const u of this.uploads.values()) this.counted[groupOf(u)]++
    }
    return this.counted
  }

  /** The ids, those first that one wants to see. */
  order(): number[] {
    const place = (id: number) => groups.indexOf(groupOf(this.uploads.get(id)!))
    return (this.ordered ??= [...this.uploads.keys()].sort((a, b) => place(a) - place(b)))
  }

  /** Queues files for a knowledge base. A file takes the place of an earlier one of its name. */
  add(base: { id: string; name: string }, files: Found[]) {
    const earlier = new Map([...this.uploads.values()].filter((u) => groupOf(u) !== 'running').map((u) => [sameDocument(u), u.id]))
    for (const { file, name } of files) {
      const u: Upload = { ...fresh, id: ++this.lastId, kb: base.id, base: base.name, name, file, state: 'waiting' }
      this.uploads.delete(earlier.get(sameDocument(u)) ?? 0)
      earlier.set(sameDocument(u), u.id)
      this.uploads.set(u.id, u)
    }
    this.changed()
  }

  /** Starts what may start, and answers it: two at a time, of one document only one. */
  start(): Upload[] {
    const under = [...this.uploads.values()].filter((u) => groupOf(u) === 'running')
    const busy = new Set(under.map(sameDocument))
    const started: Upload[] = []
    for (const u of this.uploads.values()) {
      if (under.length + started.length >= atOnce) break
      if (u.state !== 'waiting' || busy.has(sameDocument(u))) continue
      busy.add(sameDocument(u))
      started.push(u)
    }
    for (const u of started) this.put(u.id, { state: 'sending' })
    return started
  }

  /** Changes an upload that is still on the list. */
  put(id: number, part: Partial<Upload>) {
    const before = this.uploads.get(id)
    if (!before) return
    this.uploads.set(id, { ...before, ...part })
    if (part.state && part.state !== before.state) this.changed()
  }

  /** Ends what waits, and answers what runs: whoever sends it ends it. */
  cancel(which: Which): number[] {
    const some = [...this.uploads.values()].filter(which)
    for (const u of some) if (u.state === 'waiting') this.put(u.id, { state: 'cancelled' })
    return some.filter((u) => groupOf(u) === 'running').map((u) => u.id)
  }

  /** Has what has ended wait once more, in its old place. */
  retry(which: Which) {
    for (const u of this.uploads.values()) {
      if (which(u) && !isActive(u)) this.uploads.set(u.id, { ...u, ...fresh, state: 'waiting' })
    }
    this.changed()
  }

  /** Takes what has ended off the list. */
  clear(which: Which) {
    for (const u of this.uploads.values()) {
      if (which(u) && !isActive(u)) this.uploads.delete(u.id)
    }
    this.changed()
  }

  private changed() {
    this.counted = this.ordered = undefined
  }
}
