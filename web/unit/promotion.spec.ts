import { expect, test } from '@playwright/test'
import type { PresetsDefinition, PresetsDetail } from '../src/api/schema'
import { presetOf, savedVersion, savePreset } from '../src/lib/promotion'

interface Asked { method: string; path: string; body: unknown }

/** A gateway that answers everything alike, and what it was asked. */
function gateway(answer: unknown, status = 200): Asked[] {
  const asked: Asked[] = []
  const kept = { getItem: () => null }
  Object.defineProperty(globalThis, 'navigator', { value: { language: 'en' }, configurable: true })
  Object.assign(globalThis, {
    localStorage: kept, sessionStorage: kept,
    fetch: async (path: string, { method, body }: { method: string; body?: string }) => {
      asked.push({ method, path, body: body === undefined ? undefined : JSON.parse(body) })
      return new Response(JSON.stringify(answer), { status })
    },
  })
  return asked
}

const details = [
  { name: 'rrf', source: 'built in', version: 3 }, { name: 'default', source: 'configured', version: 9 },
  { name: 'ours', source: 'saved', version: 7 }, { name: 'default', source: 'saved', version: 4 },
] as unknown as PresetsDetail[]

test('a preset is saved over the version that was seen, so that what somebody else saved meanwhile is not lost', async () => {
  const definition = { base: 'rrf' } as PresetsDefinition
  for (const [name, seen] of [['default', 4], ['ours', 7], ['rrf', 0], ['new/one', 0]] as const) {
    const asked = gateway({})
    await savePreset(name, definition, 'why', savedVersion(details, name))
    expect(asked).toEqual([{ method: 'PUT', path: `/v1/presets/${encodeURIComponent(name)}`, body: { definition, comment: 'why', base_version: seen } }])
  }
})

test('a version that has gone on is told and nothing else is tried', async () => {
  const asked = gateway({ code: 'conflict', detail: 'somebody saved version 5' }, 409)
  await expect(savePreset('default', {} as PresetsDefinition, '', 4)).rejects.toMatchObject({ status: 409, code: 'conflict' })
  expect(asked).toHaveLength(1)
})

test('what searches as a request does is its preset with what it says otherwise, without where it searches', async () => {
  const asked = gateway({ definition: { base: 'linear', rrf_k: 10, top_k: 20 } })
  const made = await presetOf({ preset: 'ours', query: 'q', knowledge_bases: ['a'], filter: {}, engine: 'x', top_k: 5, weights: { text: 1 }, explain: true }, 'balanced')
  expect(asked[0]?.path).toBe('/v1/presets/ours')
  expect(made).toEqual({ definition: { base: 'linear', rrf_k: 10, top_k: 5, weights: { text: 1 } }, left: ['explain'] })
  gateway({})
  expect(await presetOf({ query: 'q' }, 'balanced')).toEqual({ definition: { base: 'balanced' }, left: [] })
})
