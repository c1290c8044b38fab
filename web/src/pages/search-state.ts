import type { SearchHit, SearchRequest, SearchSuggestRequest } from '../api/schema'
import { enginesOf, type Choices } from '../lib/bases'
import { post, pre } from '../lib/marked'
import { numberOf } from '../lib/params'

export const pageSizes = [10, 20, 50, 100]
export const sizes = [10, 20, 50, 100, 500]
/** Presets whose one leg has no weight to choose. */
export const single = ['text', 'vector']

/** Below this, nothing seems to answer the question: what "auto" stands for in the gateway. */
export const answering = 0.25

/** What the address of a search says. */
export interface SearchState {
  q: string
  kb: string[] // empty: all; [''] is none
  preset: string // '': the default
  engine: string
  weight: number | null // share of keywords; null: the preset's own
  size: number
  per: number // hits a page
  page: number
  relevant: boolean | null // only hits that are relevant; null: as the preset has it
  language: string // of the question; '': told by it
  documents: string[]
  facets: string[]
  filters: [string, string[]][]
  diversity: number | null // null: the preset's own
  recent: string // field with a date; ''; none
  halfLife: string // of that
  popular: string // field with a number; ''; none
  pivot: number // the number that counts half
  favoured: [string, string] | null // field and value of chunks that count more
  boosts: Partial<Record<Part, number>> // what parts of the text count
  reranker: string
  sections: boolean // hits bring their sections along
  answered: boolean // a language model writes an answer of the hits
  rewritten: boolean // a language model asks in other words too
}

/** Half-lives on offer. */
export const halfLives = ['30d', '180d', '365d', '1825d']
export const diversities = [0, 0.1, 0.3, 0.5]

/** What a signal counts beside words and vectors. */
const signalWeight = 0.3

/** Parts of a text that may count more, and by how much. */
export const parts = ['title', 'content', 'important_keywords', 'questions'] as const
export type Part = (typeof parts)[number]
export const boosts = [1, 2, 3, 5, 10]

export function readState(params: URLSearchParams): SearchState {
  const whole = (name: string, most: number, otherwise: number) => Math.round(numberOf(params, name, [1, most], otherwise))
  return {
    q: params.get('q') ?? '',
    kb: params.getAll('kb'),
    preset: params.get('preset') ?? '',
    engine: params.get('engine') ?? '',
    weight: numberOf(params, 'w', [0, 1], null),
    size: whole('size', 500, 50),
    per: whole('per', 100, 10),
    page: whole('page', 500, 1),
    relevant: ({ 1: true, 0: false } as Record<string, boolean>)[params.get('relevant') ?? ''] ?? null,
    language: params.get('language') ?? '',
    documents: params.getAll('doc'),
    facets: params.getAll('facet'),
    diversity: numberOf(params, 'diversity', [0, 1], null),
    recent: params.get('recent') ?? '',
    halfLife: params.get('half') ?? '365d',
    popular: params.get('popular') ?? '',
    pivot: Math.max(Number.MIN_VALUE, numberOf(params, 'pivot', [0, 1e12], 1)),
    favoured: favouredIn(params),
    boosts: Object.fromEntries(parts.map((p) => [p, numberOf(params, `b.${p}`, [1, 100], null)]).filter(([, by]) => by === 1 || Number(by) >= 2)),
    reranker: params.get('rerank') ?? '',
    sections: params.get('sections') === '1',
    answered: params.get('answer') === '1',
    rewritten: params.get('rewrite') === '1',
    filters: [...new Set(params.keys())].filter((k) => k.startsWith('f.')).map((k) => [k.slice(2), params.getAll(k)]),
  }
}

/** field=value, as the address has it. */
function favouredIn(params: URLSearchParams): [string, string] | null {
  const text = params.get('favoured') ?? ''
  const at = text.indexOf('=')
  return at > 0 ? [text.slice(0, at), text.slice(at + 1)] : null
}

/** The parts of texts that all chosen knowledge bases index by themselves. */
export function partsOf(state: Pick<SearchState, 'kb' | 'engine'>, choices: Choices): Part[] {
  const chosen = basesOf(state, choices)
  const bases = choices.bases.filter((b) => chosen.includes(b.id))
  return bases.length === 0 ? [] : parts.filter((p) => bases.every((b) => b.fields && p in b.fields))
}

/** What parts count: those left out of a request have 1, so what a single knowledge base says comes along. */
function boostsOf(state: SearchState, choices: Choices, bases: string[]) {
  const offered = partsOf(state, choices)
  const chosen = Object.entries(state.boosts).filter(([p]) => offered.includes(p as Part))
  if (chosen.length === 0) return undefined
  const own = bases.length === 1 ? choices.bases.find((b) => b.id === bases[0])?.fields : {}
  return { ...own, ...Object.fromEntries(chosen) }
}

function signalsOf(state: SearchState) {
  const signals: object[] = []
  if (state.recent) signals.push({ recency: { field: state.recent, half_life: state.halfLife }, weight: signalWeight })
  if (state.popular) signals.push({ number: { field: state.popular, pivot: state.pivot }, weight: signalWeight })
  if (state.favoured) signals.push({ match: { field: state.favoured[0], values: meantBy(state.favoured[1]) }, weight: signalWeight })
  return signals
}

/** The knowledge bases to choose from: all on the engine. */
export const offeredTo = (state: Pick<SearchState, 'engine'>, choices: Choices) =>
  choices.bases.filter((b) => !state.engine || enginesOf(b).includes(state.engine)).map((b) => b.id)

/** The knowledge bases that a state means: those named that there are; all where none is named. */
export function basesOf(state: Pick<SearchState, 'kb' | 'engine'>, choices: Choices): string[] {
  const offered = offeredTo(state, choices)
  return state.kb.length > 0 ? offered.filter((id) => state.kb.includes(id)) : offered
}

/** The knowledge bases with one more or one less, as the address says it: all is no parameter, none is an empty one. */
export function withBase(id: string, on: boolean, state: SearchState, choices: Choices): string[] {
  const chosen = basesOf(state, choices).filter((other) => other !== id)
  if (on) chosen.push(id)
  if (chosen.length === 0) return ['']
  return chosen.length === offeredTo(state, choices).length ? [] : chosen
}

/** The values that a counted value stands for: counts show numbers and booleans as text. */
function meantBy(value: string): (string | number | boolean)[] {
  if (value === 'true' || value === 'false') return [value, value === 'true']
  return /^-?\d+(\.\d+)?$/.test(value) ? [value, Number(value)] : [value]
}

/** Which chunks a search looks at. */
function amongOf(state: SearchState, bases: string[]): Omit<SearchSuggestRequest, 'query'> {
  const filter: Record<string, unknown> = Object.fromEntries(state.filters.map(([field, values]) => [field, values.flatMap(meantBy)]))
  if (state.documents.length > 0) filter.document_id = state.documents
  return {
    knowledge_bases: bases,
    ...(state.engine ? { engine: state.engine } : {}),
    ...(Object.keys(filter).length > 0 ? { filter } : {}),
  }
}

/** Where suggestions for a question come from: the chunks that a search would look at. */
export function suggestedFrom(state: SearchState, choices: Choices): Omit<SearchSuggestRequest, 'query'> | null {
  const bases = basesOf(state, choices)
  return bases.length > 0 ? amongOf(state, bases) : null
}

export function requestOf(state: SearchState, choices: Choices): SearchRequest | null {
  const bases = basesOf(state, choices)
  if (!state.q.trim() || bases.length === 0) return null
  const [fields, signals] = [boostsOf(state, choices, bases), signalsOf(state)]
  return {
    query: state.q,
    ...amongOf(state, bases),
    top_k: state.sections ? Math.min(state.size, 100) : state.size,
    offset: (state.page - 1) * state.per,
    limit: state.per,
    explain: true,
    highlight: { pre, post, fragment_size: 160, fragments: 2 },
    ...(state.preset ? { preset: state.preset } : {}),
    ...(state.weight !== null && !single.includes(state.preset)
      ? { weights: { text: state.weight, vector: Math.round((1 - state.weight) * 100) / 100 } }
      : {}),
    ...(state.relevant !== null ? { threshold: state.relevant ? 'auto' : { answerable: 0, relevance: 0 } } : {}),
    ...(state.language ? { language: state.language } : {}),
    ...(state.diversity !== null ? { diversity: state.diversity } : {}),
    ...(fields ? { fields } : {}),
    ...(signals.length > 0 && !single.includes(state.preset) ? { signals } : {}),
    ...(state.reranker ? { rerank: state.reranker } : {}),
    ...(state.sections ? { return: 'parent' } : {}),
    ...(state.rewritten ? { rewrite: { phrasings: 3 } } : {}),
    ...(state.facets.length > 0 ? { facets: state.facets } : {}),
    facet_mode: 'disjunctive',
    did_you_mean: true,
  } as SearchRequest
}

/**
 * What to ask for once an answer is shown: hits that no word of the question is in, from the sentence nearest
 * to it on. The sentences are embedded, which takes longer than the search; null where there is no such hit.
 */
export function nearestOf(request: SearchRequest, hits: SearchHit[]): SearchRequest | null {
  if (!hits.some((h) => h.vector_similarity !== null && isUnmarked(h))) return null
  const { explain: _, facets: __, facet_mode: ___, did_you_mean: ____, ...same } = request
  return { ...same, cache: false, highlight: { ...request.highlight, nearest: true } } // there may be time for more than before
}

const isUnmarked = (hit: SearchHit) => !hit.highlights?.some((fragment) => fragment.includes(pre))

/** The hits, those without a mark with the fragments of the same hits in a later answer. */
export function withNearest(hits: SearchHit[], later: SearchHit[]): SearchHit[] {
  const keyOf = (h: SearchHit) => `${h.knowledge_base}/${h.id}`
  const found = new Map(later.map((h) => [keyOf(h), h.highlights]))
  return hits.map((h) => (isUnmarked(h) && found.get(keyOf(h))?.length ? { ...h, highlights: found.get(keyOf(h))! } : h))
}

/** What is on offer, and what is chosen where that is none of it. */
export function withCurrent<T extends string | number>(offered: T[], current: T): T[] {
  const all = [...new Set([...offered, current])]
  return typeof current === 'number' ? all.sort((a, b) => Number(a) - Number(b)) : all
}
