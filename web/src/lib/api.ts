// The gateway's API, typed by its OpenAPI document.
import type { CompareComparison, CompareQuestion, FileFormats, KnowledgeBases, Presets, Problem, SearchAnalyzeAnswer,
  SearchRequest, SearchAnswer, SearchSuggestRequest, SearchSuggestions } from '../api/schema'
import { chosen } from './i18n'

/** An answer that is not a success, as the gateway tells it (RFC 9457). */
export class ApiError extends Error {
  constructor(readonly status: number, readonly code: string, readonly detail: string, readonly field = '') {
    super(detail)
  }
}

const keySlot = 'hybridge.key'

/** The API key lives as long as the tab. */
export const key = {
  get: () => sessionStorage.getItem(keySlot) ?? '',
  set(value: string) {
    if (value) sessionStorage.setItem(keySlot, value)
    else sessionStorage.removeItem(keySlot)
    dispatchEvent(new Event('hybridge:key'))
  },
}

export function headers(contentType?: string): Record<string, string> {
  const all: Record<string, string> = { Accept: 'application/json', 'Accept-Language': chosen() }
  if (contentType) all['Content-Type'] = contentType
  if (key.get()) all.Authorization = `Bearer ${key.get()}`
  return all
}

/** Makes an error of a failed answer; a missing or refused key asks for one. */
export function problem(status: number, text: string): ApiError {
  if (status === 401) dispatchEvent(new Event('hybridge:unauthenticated'))
  try {
    const p = JSON.parse(text) as Partial<Problem>
    return new ApiError(status, p.code ?? 'unknown', p.detail ?? text, p.field)
  } catch {
    return new ApiError(status, 'unknown', text.slice(0, 300))
  }
}

export async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers: headers(body === undefined ? undefined : 'application/json'),
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'unreachable', '')
  }
  const text = await response.text()
  if (!response.ok) throw problem(response.status, text)
  return (text ? JSON.parse(text) : undefined) as T
}

export const api = {
  bases: (signal?: AbortSignal) => call<KnowledgeBases>('GET', '/v1/knowledge-bases', undefined, signal),
  presets: (signal?: AbortSignal) => call<Presets>('GET', '/v1/presets', undefined, signal),
  fileFormats: (signal?: AbortSignal) => call<FileFormats>('GET', '/v1/file-formats', undefined, signal),
  search: (r: SearchRequest, signal?: AbortSignal) => call<SearchAnswer>('POST', '/v1/search', r, signal),
  suggest: (r: SearchSuggestRequest, signal?: AbortSignal) => call<SearchSuggestions>('POST', '/v1/suggest', r, signal),
  analyze: (r: SearchRequest, signal?: AbortSignal) => call<SearchAnalyzeAnswer>('POST', '/v1/analyze', r, signal),
  compare: (r: CompareQuestion, signal?: AbortSignal) => call<CompareComparison>('POST', '/v1/compare', r, signal),
}

/** The same request for a shell. */
export function asCurl(method: string, url: string, body?: unknown): string {
  const quote = (s: string) => `'${s.replaceAll("'", `'\\''`)}'`
  const parts = [`curl -s${method === 'POST' || method === 'GET' ? '' : ` -X ${method}`} ${quote(url)}`]
  if (key.get()) parts.push('-H "Authorization: Bearer $HYBRIDGE_KEY"')
  if (body !== undefined) {
    parts.push("-H 'Content-Type: application/json'", `-d ${quote(typeof body === 'string' ? body : JSON.stringify(body))}`)
  }
  return parts.join(' \\\n  ')
}
