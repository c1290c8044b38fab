import type { CompareColumn, CompareComparison, CompareQuestion, EvaluationList, Judgments, LibraryJudgmentList, LibraryQuery, LibraryQuerySet,
  Queries, RunsEvaluation, SearchHit, UnjudgedHits } from '../api/schema'
import { api, call } from '../lib/api'
import { post, pre } from '../lib/marked'
import { idOf } from '../lib/question-sets'

/** What a queue is of: the list that gets the grades, the questions, and what finds the hits. */
export interface Queue {
  list: LibraryJudgmentList
  set: LibraryQuerySet
  queries: LibraryQuery[]
  columns: CompareColumn[]
}

/** The hits of a question that are to be judged, in an order that says nothing of who found them. */
export interface Pool {
  query: string // its id
  hits: SearchHit[]
  judged: number // hits of the answers that have a grade
}

export const depths = [5, 10, 20, 50]
const mostColumns = 6 // of a comparison, which has two at least

/** Members of a search that a column may have. */
const members = ['preset', 'engine', 'knowledge_bases', 'weights', 'fields', 'boosts', 'candidates', 'minimum_should_match', 'normalizer', 'pivot', 'rrf_k',
  'signals', 'text_query', 'text_required', 'threshold', 'rerank', 'use_rerank', 'rewrite', 'diversity', 'group_by'] as const

const columnsOf = (e: RunsEvaluation): CompareColumn[] => (e.systems ?? []).map(({ request }) =>
  Object.fromEntries(members.flatMap((m) => (request[m as keyof typeof request] === undefined ? [] : [[m, request[m as keyof typeof request]]]))) as CompareColumn)

export async function everyQuery(set: string, signal?: AbortSignal): Promise<LibraryQuery[]> {
  const all: LibraryQuery[] = []
  let after = ''
  do {
    const page = await call<Queries>('GET', `/v1/query-sets/${set}/queries?limit=1000${after ? `&after=${encodeURIComponent(after)}` : ''}`, undefined, signal)
    all.push(...page.queries)
    after = page.next ?? ''
  } while (after)
  return all
}

/** Which questions and whose hits are judged. */
export interface Wanted {
  evaluation: string // '': none
  presets: string[]
  only: string // id of a question; '': all of them
}

/**
 * What there is to judge into a list: of an evaluation the questions with unjudged hits, those first that have most; else all
 * questions of the set, by these presets.
 */
export async function queueOf(id: string, { evaluation, presets, only }: Wanted, signal: AbortSignal): Promise<Queue> {
  const list = await call<LibraryJudgmentList>('GET', `/v1/judgments/${encodeURIComponent(id)}`, undefined, signal)
  const [set, all] = await Promise.all([
    call<LibraryQuerySet>('GET', `/v1/query-sets/${list.query_set}`, undefined, signal),
    everyQuery(list.query_set, signal),
  ])
  const queries = only ? all.filter((q) => q.id === only) : all
  if (!evaluation) return { list, set, queries, columns: presets.map((preset) => ({ preset })) }
  const [of, { unjudged }] = await Promise.all([
    call<EvaluationList['evaluations'][number]>('GET', `/v1/evaluations/${encodeURIComponent(evaluation)}`, undefined, signal),
    call<UnjudgedHits>('GET', `/v1/evaluations/${encodeURIComponent(evaluation)}/unjudged?depth=10&limit=1000`, undefined, signal),
  ])
  const lacking = new Map<string, number>()
  for (const u of unjudged) lacking.set(u.query, (lacking.get(u.query) ?? 0) + 1)
  const some = queries.filter((q) => lacking.has(q.id)).sort((a, b) => lacking.get(b.id)! - lacking.get(a.id)!)
  return { list, set, queries: some, columns: columnsOf(of) }
}

export const keyOf = (h: Pick<SearchHit, 'knowledge_base' | 'id'>) => `${h.knowledge_base}/${h.id}`

/** Asks a question by all columns, and leaves out what has a grade. Comparisons are no searches of users, so nothing logs them. */
export async function poolOf({ list, set, columns }: Queue, query: LibraryQuery, depth: number, signal: AbortSignal): Promise<Pool> {
  const groups = Array.from({ length: Math.ceil(columns.length / mostColumns) }, (_, i) => columns.slice(i * mostColumns, (i + 1) * mostColumns))
  const ask = (some: CompareColumn[]) => api.compare({
    query: query.text, knowledge_bases: set.knowledge_bases, top_k: depth, columns: some.length > 1 ? some : [...some, ...some], filter: query.filter,
    highlight: { pre, post, fragment_size: 2000, fragments: 3 },
  } as CompareQuestion, signal)
  const [{ judgments }, ...answers] = await Promise.all([
    call<Judgments>('GET', `/v1/judgments/${list.id}/judgments?${new URLSearchParams({ query: query.id, limit: '1000' })}`, undefined, signal),
    ...groups.map(ask),
  ])
  const sides = (answers as CompareComparison[]).flatMap((c) => c.columns ?? [])
  if (sides.length > 0 && sides.every((s) => s.error)) throw new Error(sides[0]!.error!.detail)
  const found = new Map<string, SearchHit>()
  for (const hit of sides.flatMap((s) => s.response?.hits ?? [])) {
    const other = found.get(keyOf(hit))
    if (!other?.highlights?.some((h) => h.includes(pre))) found.set(keyOf(hit), hit) // words mark more than vectors do
  }
  const documents = new Set(judgments.filter((j) => !j.chunk_id).map((j) => `${j.knowledge_base}/${j.document_id}`))
  const chunks = new Set(judgments.filter((j) => j.chunk_id).map((j) => `${j.knowledge_base}/${j.chunk_id}`))
  const open = [...found.values()].filter((h) => !chunks.has(keyOf(h)) && !documents.has(`${h.knowledge_base}/${h.document_id}`))
  const order = new Map(open.map((h) => [h, idOf(`${query.id} ${keyOf(h)}`)]))
  return { query: query.id, hits: open.sort((a, b) => (order.get(a)! < order.get(b)! ? -1 : 1)), judged: found.size - open.length }
}
