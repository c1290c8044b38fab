// Files go to the gateway as they are: it splits them. Of NDJSON
// every run of lines is a request of its own, so that one knows what is written.
import type { IngestFileProgress, IngestFileResult, IngestResult, Problem } from '../api/schema'
import { ApiError, headers, problem } from './api'
import type { Key } from './i18n'
import { runsOf } from './lines'

/** A file to be split that is larger is not worth the sending. */
export const largest = 200e6

/** How many lines that failed are kept to be shown. */
const kept = 200

export interface LineFailure {
  line: number
  id?: string
  detail: string
}

/** How far a file is. */
export interface Progress {
  state: 'sending' | 'working'
  sent: number // share of the bytes
  done: number // chunks, of all
  all: number // 0 until it is known
  unchanged: boolean // all of it was there already
  failures: LineFailure[] // the first of them
  failed: number
}

export interface Task {
  kb: string
  name: string // of its document
  file: File
  signal: AbortSignal
  tell: (p: Partial<Progress>) => void
}

/** Endings of files of lines, which every knowledge base takes. */
export const ofLines = ['.ndjson', '.jsonl']

const isLines = (name: string) => /\.(ndjson|jsonl)$/i.test(name)

/** Sends one file and tells how far it is; what ends it early is thrown. */
export async function upload(task: Task) {
  await task.file.slice(0, 1).arrayBuffer() // one that is gone says so itself
  await (isLines(task.name) ? sendLines(task) : sendWhole(task))
}

/** What an error means for the file. */
export function reasonOf(error: unknown, file: File): Key | undefined {
  if (error instanceof DOMException) return 'bases.upload.unreadable'
  if (!(error instanceof ApiError)) return undefined
  if (error.code === 'unreachable') return 'error.unreachable'
  if (error.field === 'name' && error.code === 'unsupported') return 'bases.upload.kind'
  if (error.field !== 'file') return undefined
  if (error.code === 'too_large') return 'bases.upload.large'
  return file.size === 0 ? 'bases.upload.empty' : undefined // the gateway says what is wrong with it
}

const baseOf = (kb: string) => `/v1/knowledge-bases/${encodeURIComponent(kb)}`

interface Post {
  url: string
  type: string
  body: Blob
  signal: AbortSignal
  sent?: (share: number) => void
  heard?: (text: string) => void // all of the answer that is there
}

/** fetch tells nothing about how far an upload is; XMLHttpRequest does. */
function post({ url, type, body, signal, sent, heard }: Post): Promise<string> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const request = new XMLHttpRequest()
    request.open('POST', url)
    const all = { ...headers(type), Accept: 'application/x-ndjson' }
    for (const [name, value] of Object.entries(all)) request.setRequestHeader(name, value)
    const abort = () => request.abort()
    signal.addEventListener('abort', abort)
    request.onloadend = () => signal.removeEventListener('abort', abort)
    request.upload.onprogress = (e) => sent?.(e.lengthComputable ? e.loaded / e.total : 0)
    request.upload.onload = () => sent?.(1)
    request.onprogress = () => request.status === 200 && heard?.(request.responseText)
    request.onabort = () => reject(signal.reason as Error)
    request.onerror = () => reject(new ApiError(0, 'unreachable', ''))
    request.onload = () => {
      if (request.status >= 300) reject(problem(request.status, request.responseText))
      else resolve(request.responseText)
    }
    request.send(body)
  })
}

type Line = IngestFileProgress | IngestFileResult | Problem

/** The last line that is there as a whole. */
function lastOf(text: string): Line | undefined {
  const line = text.slice(0, text.lastIndexOf('\n')).split('\n').pop()
  return line ? (JSON.parse(line) as Line) : undefined
}

async function sendWhole({ kb, name, file, signal, tell }: Task) {
  if (file.size > largest) throw new ApiError(413, 'too_large', '', 'file')
  const text = await post({
    url: `${baseOf(kb)}/files?refresh=true&name=${encodeURIComponent(name)}`, type: 'application/octet-stream', body: file, signal,
    sent: (share) => tell(share < 1 ? { state: 'sending', sent: share } : { state: 'working', sent: 1 }),
    heard: (so) => {
      const line = lastOf(so)
      if (line && 'ready' in line) tell({ state: 'working', done: line.ready, all: line.chunks })
    },
  })
  const last = lastOf(text)
  if (!last || 'ready' in last) throw new ApiError(0, 'unreachable', '') // the gateway ended on the way
  if ('code' in last) throw problem(last.status, JSON.stringify(last))
  tell({ done: last.chunks, all: last.chunks, unchanged: last.status === 'unchanged' })
}

async function sendLines({ kb, file, signal, tell }: Task) {
  tell({ state: 'working' })
  const runs = await runsOf(file)
  const all = runs.reduce((n, r) => n + r.lines, 0)
  const failures: LineFailure[] = []
  let done = 0
  let failed = 0
  for (const [i, run] of runs.entries()) {
    const text = await post({
      url: `${baseOf(kb)}/documents${i === runs.length - 1 ? '?refresh=true' : ''}`, type: 'application/x-ndjson',
      body: file.slice(run.from, run.to), signal,
    })
    const results = text.split('\n').filter(Boolean).map((line) => JSON.parse(line) as IngestResult)
    const bad = results.filter((r) => r.status === 'failed' && r.line > 0)
    done += results.length - results.filter((r) => r.status === 'failed').length
    failed += bad.length
    for (const r of bad.slice(0, kept - failures.length)) {
      failures.push({ line: run.line + r.line - 1, id: r.id, detail: r.error?.detail ?? '' })
    }
    tell({ done, all, failed, failures: [...failures] })
    stopWhenAway(results)
  }
  if (done + failed === 0) throw new ApiError(400, 'invalid_argument', '', 'file')
}

const away = ['unavailable', 'timeout', 'overloaded', 'canceled']

/** Ends when the gateway did, by its line 0, or when a back end is away: the rest would only take its time to fail. */
function stopWhenAway(results: IngestResult[]) {
  const cause = results.find((r) => r.line === 0)?.error ?? (results.every((r) => away.includes(r.error?.code ?? '')) ? results[0]?.error : undefined)
  if (cause) throw new ApiError(503, cause.code, cause.detail, cause.field)
}
