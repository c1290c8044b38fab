// Judgements stay in this browser, in the terms of a retrieval set: a query, a
// chunk, and how well it answers.
import { useSyncExternalStore } from 'react'
import type { DocumentChunks, Documents } from '../api/schema'
import { call } from './api'

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

async function* pagesOf<T extends { next?: string }>(url: string): AsyncGenerator<T> {
  let after: string | undefined
  do {
    const page: T = await call<T>('GET', `${url}?limit=1000${after === undefined ? '' : `&after=${encodeURIComponent(after)}`}`)
    yield page
    after = page.next
  } while (after)
}
