// Questions as people have them: lines of text, a table, or JSON Lines as the command line exports them.
import type { LibraryQuery } from '../api/schema'
import { call } from './api'
import { idOf } from './question-sets'

/** A line that is not what its file says it is, by its number from 1. */
export class BadLine extends Error {
  constructor(readonly line: number) {
    super(`line ${line}`)
  }
}

/** Rows of CSV, with quoted fields as RFC 4180 has them. */
function rowsOf(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1)!.push(quoted === undefined ? (bare ?? '') : quoted.replaceAll('""', '"'))
    if (end === '') break
    if (end !== ',') rows.push([])
  }
  return rows.filter((row) => row.some((field) => field.trim() !== ''))
}

function fromTable(text: string): LibraryQuery[] {
  const [head = [], ...rows] = rowsOf(text.replace(/^\uFEFF/, ''))
  const at = (name: string) => head.findIndex((h) => h.trim().toLowerCase() === name)
  const [query, id] = [at('query'), at('id')]
  if (query < 0) throw new BadLine(1)
  return rows.flatMap((row) => {
    const said = row[query]?.trim() ?? ''
    return said ? [{ id: (id < 0 ? '' : row[id]?.trim()) || idOf(said), text: said }] : []
  })
}

function fromJSONLines(text: string): LibraryQuery[] {
  return text.split('\n').flatMap((line, i) => {
    if (!line.trim()) return []
    try {
      const { _id, query, ...row } = JSON.parse(line) as Partial<LibraryQuery> & { _id?: string; query?: string }
      const said = (row.text ?? query ?? '').trim()
      if (!said) throw new BadLine(i + 1)
      return [{ ...row, text: said, id: row.id ?? _id ?? idOf(said) }]
    } catch {
      throw new BadLine(i + 1)
    }
  })
}

/** The questions of a file, by the ending of its name; of a text without one each line is a question. */
export function queriesOf(text: string, name = ''): LibraryQuery[] {
  const all = /\.csv$/i.test(name) ? fromTable(text)
    : /\.(jsonl|ndjson)$/i.test(name) ? fromJSONLines(text)
    : text.split('\n').map((line) => line.trim()).filter(Boolean).map((said) => ({ id: idOf(said), text: said }))
  return [...new Map(all.map((q) => [q.id, q])).values()]
}

const atOnce = 1000 // rows of a call

/** Adds questions to a set; answers how many were refused. */
export async function addQueries(set: string, queries: LibraryQuery[]): Promise<number> {
  let refused = 0
  for (let i = 0; i < queries.length; i += atOnce) {
    const { failed } = await call<{ failed: unknown[] }>('POST', `/v1/query-sets/${set}/queries`, { queries: queries.slice(i, i + atOnce) })
    refused += failed.length
  }
  return refused
}

/** An id of a name: what an id may have of it, else one that its text decides. */
export function idFrom(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9_-]+/g, '-').replace(/^[-_]+|-+$/g, '').slice(0, 64)
  return plain || `set-${idOf(name)}`
}
