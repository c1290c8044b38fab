// Documents: where they are shown, how they are read, and what of them answers a question.
import type { DocumentChunks, EngineChunk, SearchAnswer, SearchHit, SearchRequest } from '../api/schema'
import { api, call } from './api'
import { useLoad, usePaged } from './load'
import { markedBy, post, pre } from './marked'
import { merged, type Params } from './url'

/** The page of a document. Search is the address of the hits that it is opened from, so that it leads back to them. */
export const documentAt = (kb: string, document: string, search = '', change: Params = {}) =>
  `/documents/${encodeURIComponent(kb)}/${encodeURIComponent(document)}${merged(search, change)}`

export const documentUrl = (kb: string, document: string) =>
  `/v1/knowledge-bases/${encodeURIComponent(kb)}/documents/${encodeURIComponent(document)}`

const pageSize = 200

/** The chunks of a document in their order. */
export function useChunks(kb: string, document: string) {
  return usePaged<EngineChunk>(['chunks', kb, document], async (after, signal) => {
    const place = after ? `&after=${encodeURIComponent(after)}` : ''
    const got = await call<DocumentChunks>('GET', `${documentUrl(kb, document)}?limit=${pageSize}${place}`, undefined, signal)
    return { items: got.chunks ?? [], next: got.next }
  })
}

/** How many chunks of a document are looked at for words of a question. */
const mostMatches = 1000

export interface Matches {
  /** Those that have words of the question, in the order of the document. */
  inOrder: SearchHit[]
  byID: Map<string, SearchHit>
}

/** The chunks of a document that any word of the question is in, wherever they rank. */
export function useMatches(kb: string, document: string, question: string, of: Pick<SearchRequest, 'engine' | 'language'>) {
  const request: SearchRequest | null = question.trim() ? {
    ...of, query: question, knowledge_bases: [kb], filter: { document_id: [document] },
    preset: 'text', minimum_should_match: '0', top_k: mostMatches, experiments: false,
    highlight: { pre, post, fragment_size: 2000, fragments: 50 },
  } : null
  return useLoad<Matches>(request && ['matches', request], async (signal) => matchesOf(await api.search(request!, signal)))
}

function matchesOf(answer: SearchAnswer): Matches {
  const has = (text: string | null | undefined) => Boolean(text?.includes(pre))
  const found = (answer.hits ?? []).filter((h) => h.highlights?.some(has) || has(h.title_highlight) || has(h.question_highlight))
  return { inOrder: found.sort((a, b) => a.ordinal - b.ordinal), byID: new Map(found.map((h) => [h.id, h])) }
}

/** The text of a chunk, of a pair its answer, with words of the question marked. */
export function textOf(chunk: EngineChunk, match: SearchHit | undefined): string {
  const text = chunk.answer || chunk.content || ''
  return unwrapped(match ? markedBy(text, match.highlights ?? []) : text)
}

/** Line breaks that an editor did not make, as the first word behind would have had its place, stay for whoever reads. */
function unwrapped(text: string): string {
  if (/^\s*(```|~~~)|^[ \t]*\|?[ \t]*:?-+:?[ \t]*\|/m.test(text)) return text // lines mean something there
  const lines = text.split('\n')
  const width = Math.max(...lines.map((l) => l.length)) * 0.8
  return lines.map((line, i) => {
    const next = lines[i + 1]
    if (next === undefined) return line
    const word = Math.min(12, next.search(/\s|$/))
    const cells = line.includes(' | ') && next.includes(' | ') // rows of a table
    return line + (cells || line.length + 1 + word < width ? '\u2028' : '\n')
  }).join('')
}

/** Metadata that all chunks have alike. */
export function sharedOf(chunks: EngineChunk[]): [name: string, value: string][] {
  const [first] = chunks
  return Object.entries(first?.metadata ?? {})
    .map(([name, value]): [string, string] => [name, written(value)])
    .filter(([name, value]) => name !== 'source_hash' && chunks.every((c) => written(c.metadata?.[name]) === value))
}

export const written = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** The headings that a chunk stands under, from the outermost: a title is their path. */
export const headingsOf = (chunk: EngineChunk): string[] =>
  (chunk.question ? [chunk.question] : (chunk.title ?? '').split(' > ')).map((h) => h.trim()).filter(Boolean)

/** The address that a chunk comes from; only one that a browser may open without running anything. */
export function sourceOf(chunk: EngineChunk): string | null {
  for (const value of [chunk.url, ...['url', 'source_url', 'source', 'link'].map((name) => chunk.metadata?.[name])]) {
    if (typeof value === 'string' && /^https?:\/\/[^\s]+$/i.test(value) && URL.canParse(value)) return value
  }
  return null
}

/** Documents that what is typed is in the name of, a few; all where nothing is typed. Names are compared as they are written, so several ways to write it are asked for. */
export function useDocumentsNamed(typed: string, bases: string[] | null) {
  const name = typed.trim()
  const written = [...new Set([name, name.toLowerCase(), name.toUpperCase(), name.charAt(0).toUpperCase() + name.slice(1)])]
  const request = bases && bases.length > 0 ? {
    query: '', everything: true, knowledge_bases: bases, group_by: 'document_id', limit: 8, experiments: false, highlight: { fragments: 0 },
    ...(name ? { filter: { any_of: ['document_name', 'document_id'].flatMap((field) => written.map((contains) => ({ [field]: { contains } }))) } } : {}),
  } : null
  return useLoad<SearchHit[]>(request && ['documents named', request], async (signal) => (await api.search(request as SearchRequest, signal)).hits ?? [], { delay: 90 })
}
