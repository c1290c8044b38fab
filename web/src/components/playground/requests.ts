import type { SearchRequest } from '../../api/schema'

/** What may be asked of the gateway here; nothing of it changes anything. */
export const routes = ['search', 'explain', 'analyze', 'context', 'suggest', 'compare'] as const
export type Route = (typeof routes)[number]

export const pathOf = (route: Route) => `/v1/${route}`

/** A request to begin with. chunk is one that the question finds. */
export function bodyOf(route: Route, request: SearchRequest, chunk: string): object {
  const { query, knowledge_bases } = request
  switch (route) {
    case 'explain': return { ...request, chunk_id: chunk }
    case 'context': return { ...request, max_chars: 4000 }
    case 'suggest': return { query, knowledge_bases, limit: 8 }
    case 'compare': return { query, knowledge_bases, columns: [request.preset ? { preset: request.preset } : {}, { preset: 'text' }] }
    default: return request
  }
}

/** A body as it is written, or what is wrong with it and in which line. */
export function read(text: string): { body: Record<string, unknown> } | { line: number; error: string } {
  try {
    const body = JSON.parse(text) as unknown
    if (body === null || typeof body !== 'object' || Array.isArray(body)) return { line: 1, error: '{ … }' }
    return { body: body as Record<string, unknown> }
  } catch (e) {
    const said = (e as Error).message
    const at = /position (\d+)/.exec(said)?.[1]
    const before = at === undefined ? text.trimEnd() : text.slice(0, Number(at))
    return { line: before.split('\n').length, error: said.replace(/ in JSON at position.*$/, '') }
  }
}

/** As much of an answer as an editor shows; longer ones are cut between lines. */
export const mostShown = 1_000_000

export function shownOf(text: string): string {
  return text.length <= mostShown ? text : text.slice(0, text.lastIndexOf('\n', mostShown))
}
