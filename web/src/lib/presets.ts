import type { PresetsDefinition, SearchRequest } from '../api/schema'

/** Members of a definition that are for people, or that no request has. */
const notAsked = ['base', 'description', 'provenance', 'weights_by'] as const

/** The search that a draft would make; weights that follow from the question are left out, as requests have none. */
export function trialOf(definition: PresetsDefinition, query: string, bases: string[]): SearchRequest {
  const over: Record<string, unknown> = { ...definition }
  for (const name of notAsked) delete over[name]
  return { query, knowledge_bases: bases, preset: definition.base, ...over, limit: 10 } as SearchRequest
}

/** The share of words of two weights; null: of others, or none are set. */
export function shareOf(definition: PresetsDefinition): number | null {
  const { text, vector, ...others } = (definition.weights ?? {}) as Record<string, number>
  if (text === undefined || vector === undefined || Object.keys(others).length > 0 || text + vector <= 0) return null
  return text / (text + vector)
}

/** A definition with one member set; null and '' leave it to the base. */
export function withMember(definition: PresetsDefinition, name: keyof PresetsDefinition, value: unknown): PresetsDefinition {
  const { [name]: _, ...rest } = definition
  return (value === null || value === '' ? rest : { ...rest, [name]: value }) as PresetsDefinition
}
