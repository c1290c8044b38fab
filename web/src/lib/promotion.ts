import type { PresetsDefinition, PresetsDetail, PresetVersion } from '../api/schema'
import { call } from './api'

/** Members of a search that a preset may have. */
const ofPresets: string[] = ['candidates', 'did_you_mean', 'diversity', 'fields', 'group_by', 'minimum_should_match', 'normalizer', 'pivot', 'rerank', 'return', 'rewrite',
  'rrf_k', 'signals', 'text_query', 'text_required', 'threshold', 'top_k', 'use_rerank', 'weights'] satisfies (keyof PresetsDefinition)[]

/** Members that say where to search rather than how. */
const places = ['preset', 'knowledge_bases', 'query', 'filter', 'engine']

const pathOf = (name: string) => `/v1/presets/${encodeURIComponent(name)}`

/**
 * The preset that searches as a request does: its preset's own definition where it has one, else that preset as the
 * base, with what the request says otherwise; left are members that no preset can have.
 */
export async function presetOf(request: object, standard: string, signal?: AbortSignal): Promise<{ definition: PresetsDefinition; left: string[] }> {
  const preset = (request as { preset?: string }).preset || standard
  const { definition } = await call<PresetVersion>('GET', pathOf(preset), undefined, signal)
  const how = Object.entries(request).filter(([name]) => !places.includes(name))
  const over = Object.fromEntries(how.filter(([name]) => ofPresets.includes(name)))
  return { definition: { ...(definition ?? { base: preset }), ...over } as PresetsDefinition, left: how.map(([name]) => name).filter((name) => !ofPresets.includes(name)) }
}

/** The version of a saved preset that the page knows; 0: it knows of none. */
export const savedVersion = (details: PresetsDetail[], name: string) => details.find((d) => d.source === 'saved' && d.name === name)?.version ?? 0

/** Saves a preset over the version that whoever decides so has seen; one that somebody else has saved since is a conflict. */
export async function savePreset(name: string, definition: PresetsDefinition, comment: string, seen: number): Promise<void> {
  await call('PUT', pathOf(name), { definition, comment, base_version: seen })
}
