import type { IngestResult } from '../api/schema'
import { ApiError, headers, problem } from './api'
import { lines } from './split'

export const largest = 200e6

export interface Upload {
  file: File
  state: 'waiting' | 'sending' | 'writing' | 'done' | 'failed'
  sent: number // share of the bytes
  written: number
  failures: { line: number; id?: string; detail: string }[]
  problem?: 'empty' | 'binary' | 'large' | string
}

const isLines = (name: string) => /\.(ndjson|jsonl)$/i.test(name)

/** Reads a text file; a NUL or bytes that are not UTF-8 make it binary. */
async function read(file: File): Promise<string> {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
  if (text.includes('\0')) throw new TypeError('binary')
  return text
}

/** Sends one file and tells how it goes. */
export async function upload(kb: string, file: File, tell: (u: Partial<Upload>) => void) {
  if (file.size === 0) return tell({ state: 'failed', problem: 'empty' })
  if (file.size > largest) return tell({ state: 'failed', problem: 'large' })
  const documents = `/v1/knowledge-bases/${encodeURIComponent(kb)}/documents`
  try {
    if (isLines(file.name)) await send('POST', `${documents}?refresh=true`, file, tell)
    else {
      const body = lines(file.name, await read(file))
      if (!body) return tell({ state: 'failed', problem: 'empty' })
      await send('PUT', `${documents}/${encodeURIComponent(file.name)}?refresh=true`, new Blob([body]), tell)
    }
  } catch (error) {
    tell({ state: 'failed', problem: error instanceof TypeError ? 'binary' : error instanceof Error ? error.message : String(error) })
  }
}

/** fetch tells nothing about how far an upload is; XMLHttpRequest does. */
function send(method: string, url: string, body: Blob, tell: (u: Partial<Upload>) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, url)
    for (const [name, value] of Object.entries(headers('application/x-ndjson'))) {
      if (name !== 'Accept') request.setRequestHeader(name, value)
    }
    request.upload.onprogress = (e) => tell({ state: 'sending', sent: e.lengthComputable ? e.loaded / e.total : 0 })
    request.upload.onload = () => tell({ state: 'writing', sent: 1 })
    request.onerror = () => reject(new ApiError(0, 'unreachable', 'the connection was lost'))
    request.onload = () => {
      if (request.status >= 300) return reject(problem(request.status, request.responseText))
      tell({ state: 'done', sent: 1, ...tally(request.responseText) })
      resolve()
    }
    tell({ state: 'sending', sent: 0 })
    request.send(body)
  })
}

function tally(text: string): Pick<Upload, 'written' | 'failures'> {
  const results = text.split('\n').filter(Boolean).map((line) => JSON.parse(line) as IngestResult)
  const failed = results.filter((r) => r.status === 'failed')
  return {
    written: results.length - failed.length,
    failures: failed.map((r) => ({ line: r.line, id: r.id, detail: r.error?.detail ?? '' })),
  }
}
