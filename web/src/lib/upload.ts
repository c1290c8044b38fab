// Files go to the gateway as they are: it splits Markdown, text and HTML, and
// reads NDJSON line by line.
import type { IngestFileResult, IngestResult } from '../api/schema'
import { ApiError, headers, problem } from './api'
import type { Key } from './i18n'

/** A file to be split that is larger is not worth the sending. */
export const largest = 200e6

export interface Upload {
  file: File
  state: 'waiting' | 'sending' | 'writing' | 'done' | 'failed'
  sent: number // share of the bytes
  written: number
  unchanged?: boolean // all of it was there already
  failures: { line: number; id?: string; detail: string }[]
  reason?: Key
  detail?: string // in the gateway's words
}

export const linesOnly = '.ndjson,.jsonl'
export const accepted = `.md,.markdown,.txt,.text,.html,.htm,${linesOnly}`

const isLines = (name: string) => /\.(ndjson|jsonl)$/i.test(name)

/** Sends one file and tells how it goes. */
export async function upload(kb: string, file: File, tell: (u: Partial<Upload>) => void) {
  const base = `/v1/knowledge-bases/${encodeURIComponent(kb)}`
  const lines = isLines(file.name)
  if (!lines && file.size > largest) return tell({ state: 'failed', reason: 'bases.upload.large' })
  try {
    const text = lines
      ? await send(`${base}/documents?refresh=true`, 'application/x-ndjson', file, tell)
      : await send(`${base}/files?refresh=true&name=${encodeURIComponent(file.name)}`, 'application/octet-stream', file, tell)
    tell({ state: 'done', sent: 1, ...(lines ? tally(text) : outcome(text)) })
  } catch (error) {
    tell({ state: 'failed', reason: reasonOf(error, file), detail: error instanceof Error ? error.message : String(error) })
  }
}

/** What the gateway's refusal means for the file. */
function reasonOf(error: unknown, file: File): Key | undefined {
  if (!(error instanceof ApiError)) return undefined
  if (error.code === 'unreachable') return 'error.unreachable'
  if (error.field === 'name' && error.code === 'unsupported') return 'bases.upload.kind'
  if (error.field !== 'file') return undefined
  if (error.code === 'too_large') return 'bases.upload.large'
  return file.size === 0 ? 'bases.upload.empty' : 'bases.upload.binary'
}

/** fetch tells nothing about how far an upload is; XMLHttpRequest does. */
function send(url: string, type: string, body: Blob, tell: (u: Partial<Upload>) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', url)
    for (const [name, value] of Object.entries(headers(type))) request.setRequestHeader(name, value)
    request.upload.onprogress = (e) => tell({ state: 'sending', sent: e.lengthComputable ? e.loaded / e.total : 0 })
    request.upload.onload = () => tell({ state: 'writing', sent: 1 })
    request.onerror = () => reject(new ApiError(0, 'unreachable', ''))
    request.onload = () => {
      if (request.status >= 300) reject(problem(request.status, request.responseText))
      else resolve(request.responseText)
    }
    tell({ state: 'sending', sent: 0 })
    request.send(body)
  })
}

function outcome(text: string): Partial<Upload> {
  const result = JSON.parse(text) as IngestFileResult
  return { written: result.chunks, unchanged: result.status === 'unchanged' }
}

function tally(text: string): Pick<Upload, 'written' | 'failures'> {
  const results = text.split('\n').filter(Boolean).map((line) => JSON.parse(line) as IngestResult)
  const failed = results.filter((r) => r.status === 'failed')
  return {
    written: results.length - failed.length,
    failures: failed.map((r) => ({ line: r.line, id: r.id, detail: r.error?.detail ?? '' })),
  }
}
