// Judgements stay in this browser, in the terms of a retrieval set: a query, a
// chunk, and how well it answers.
import { useSyncExternalStore } from 'react'
import type { DocumentChunks, Documents, LibraryOutcome } from '../api/schema'
import { ApiError, call } from './api'
import { idOf } from './question-sets'

export type Grade = 0 | 1 | 2 // bad, fair, good
export type Book = Record<string, Record<string, Grade>> // by query, by chunk id

const slot = 'hybridge.judgments'
const changed = 'hybridge:judged'

let book: Book = read()

function read(): Book {
  try {
    return JSON.parse(localStorage.getItem(slot) ?? '{}') as Book
  } catch {
    return {}
  }
}

function keep(next: Book) {
  book = next
  localStorage.setItem(slot, JSON.stringify(book))
  dispatchEvent(new Event(changed))
}

/** Another tab may judge too. */
function subscribe(listener: () => void) {
  const elsewhere = (e: StorageEvent) => {
    if (e.key !== slot) return
    book = read()
    listener()
  }
  addEventListener(changed, listener)
  addEventListener('storage', elsewhere)
  return () => {
    removeEventListener(changed, listener)
    removeEventListener('storage', elsewhere)
  }
}

export const useJudgments = () => useSyncExternalStore(subscribe, () => book)

/** Sets a grade; the same one again takes it back. */
export function judge(query: string, chunk: string, grade: Grade) {
  const { [chunk]: before, ...others } = book[query] ?? {}
  keep({ ...book, [query]: before === grade ? others : { ...others, [chunk]: grade } })
}

/** Answers what it forgets. */
export function forget(): Book {
  const before = book
  keep({})
  return before
}

/** Brings back what was forgotten; what was judged since stays as it is. */
export function restore(before: Book) {
  const queries = [...new Set([...Object.keys(before), ...Object.keys(book)])]
  keep(Object.fromEntries(queries.map((q) => [q, { ...before[q], ...book[q] }])))
}

export const count = (b: Book) => Object.values(b).reduce((n, of) => n + Object.keys(of).length, 0)

const judged = (b: Book) => Object.entries(b).filter(([, of]) => Object.keys(of).length > 0)

/** qrels.tsv and queries.jsonl of a retrieval set in BEIR's layout. */
export function qrels(b: Book): string {
  const rows = judged(b).flatMap(([, of], i) => Object.entries(of).map(([chunk, grade]) => `q${i + 1}\t${chunk}\t${grade}`))
  return ['query-id\tcorpus-id\tscore', ...rows].join('\n') + '\n'
}

export const queries = (b: Book) => judged(b).map(([text], i) => JSON.stringify({ _id: `q${i + 1}`, text }) + '\n').join('')

/** corpus.jsonl: every chunk of the knowledge bases. */
export async function corpus(bases: string[]): Promise<string> {
  const out: string[] = []
  for (const kb of bases) {
    const root = `/v1/knowledge-bases/${encodeURIComponent(kb)}/documents`
    for await (const page of pagesOf<Documents>(root)) {
      for (const document of page.documents ?? []) {
        for await (const part of pagesOf<DocumentChunks>(`${root}/${encodeURIComponent(document.document_id)}`)) {
          for (const c of part.chunks ?? []) {
            out.push(JSON.stringify({ _id: c.id, title: c.title ?? c.question ?? '', text: c.content || c.answer || '' }))
          }
        }
      }
    }
  }
  return out.join('\n') + '\n'
}

/** What became of judgements that the gateway was to keep: those whose chunk is gone are refused. */
export interface Kept { set: string; stored: number; refused: number }

const atOnce = 1000 // rows of a call

/**
 * Keeps the judgements in the gateway, as a query set of the knowledge bases and a judgement list of the same name. Doing so
 * again adds what is new.
 */
export async function keepInGateway(b: Book, bases: string[]): Promise<Kept> {
  const all = `judged-${bases.join('-')}`
  const set = all.length <= 64 ? all : `judged-${idOf(all)}`
  const list = `/v1/judgments/${set}`
  await unlessThere(`/v1/query-sets/${set}`, { knowledge_bases: bases })
  await unlessThere(list, { query_set: set, max_grade: 2 })
  const rows = judged(b).map(([text, of]) => ({ id: idOf(text), text, of }))
  for (let i = 0; i < rows.length; i += atOnce) {
    const queries = rows.slice(i, i + atOnce).map(({ id, text }) => ({ id, text }))
    await call('POST', `/v1/query-sets/${set}/queries`, { queries })
  }
  // A chunk is of one of the knowledge bases; which one, a judgement of this browser does not say.
  const judgments = bases.flatMap((kb) => rows.flatMap(({ id, of }) =>
    Object.entries(of).map(([chunk, grade]) => ({ query_id: id, knowledge_base: kb, chunk_id: chunk, grade }))))
  let stored = 0
  for (let i = 0; i < judgments.length; i += atOnce) {
    stored += (await call<LibraryOutcome>('POST', `${list}/judgments`, { judgments: judgments.slice(i, i + atOnce) })).stored
  }
  return { set, stored, refused: Math.max(0, count(b) - stored) }
}

/** Makes what is not there; what people have changed of it since stays. */
async function unlessThere(path: string, spec: object): Promise<void> {
  await call('GET', path).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 404)) throw error
    return call<unknown>('PUT', path, { ...spec, base_version: 0 }).catch((made: unknown) => {
      if (!(made instanceof ApiError && made.status === 409)) throw made
    })
  })
}

async function* pagesOf<T extends { next?: string }>(url: string): AsyncGenerator<T> {
  let after: string | undefined
  do {
    const page: T = await call<T>('GET', `${url}?limit=1000${after === undefined ? '' : `&after=${encodeURIComponent(after)}`}`)
    yield page
    after = page.next
  } while (after)
}
