// What the address says of an experiment that is being designed.
import type { ExperimentsGoal, LiveDefinition } from '../api/schema'
import type { Choices } from '../lib/bases'
import { metrics } from '../lib/experiments'
import { numberOf } from '../lib/url'

/** A variant as the address has it: name~share~preset~members in JSON; the preset may be empty. */
export interface Variant {
  name: string
  share: string
  preset: string
  members: string
}

/** A guard rail as the address has it: metric~kind~bound. */
export interface Guard {
  metric: string
  kind: 'at_most' | 'increase'
  bound: string
}

export interface Draft {
  id: string
  kb: string[]
  mode: LiveDefinition['mode']
  unit: LiveDefinition['unit']
  metric: string
  traffic: number // per cent
  /** When it starts, in the browser's time zone as a form has it; empty, or a time that is over: at once. */
  begin: string
  days: number
  variants: Variant[]
  guards: Guard[]
  /** Numbers as they were typed; empty: left out. */
  goal: Record<'effect' | 'power' | 'base' | 'deviation' | 'units', string>
}

export const mostVariants = 8
export const mostGuards = 16

/** Splits into so many parts, the last with all that is left: JSON may have the mark too. */
function partsOf(text: string, count: number): string[] {
  const all = text.split('~')
  return Array.from({ length: count }, (_, i) => (i < count - 1 ? all[i] : all.slice(i).join('~')) ?? '')
}

export function readVariant(text: string): Variant {
  const [name = '', share = '', preset = '', members = ''] = partsOf(text, 4)
  return { name, share, preset, members }
}
export const writeVariant = (v: Variant) => [v.name, v.share, v.preset, v.members].join('~')

export function readGuard(text: string): Guard {
  const [metric = '', kind = '', bound = ''] = partsOf(text, 3)
  return { metric: metrics.find((m) => m === metric) ?? 'latency_ms', kind: kind === 'increase' ? 'increase' : 'at_most', bound }
}
export const writeGuard = (g: Guard) => [g.metric, g.kind, g.bound].join('~')

/** What there is beside another preset: what most experiments are about. */
function beginning(choices: Choices): Variant[] {
  const other = ['balanced', 'rrf', 'linear'].find((p) => p !== choices.standard && choices.presets.includes(p)) ?? choices.presets.find((p) => p !== choices.standard) ?? ''
  return [{ name: 'now', share: '50', preset: '', members: '' }, { name: other || 'new', share: '50', preset: other, members: '' }]
}

export function readDraft(params: URLSearchParams, choices: Choices): Draft {
  const variants = params.getAll('variant').map(readVariant).slice(0, mostVariants)
  const mode = params.get('mode') === 'interleave' ? 'interleave' : 'split'
  return {
    id: params.get('id') ?? '',
    kb: params.getAll('kb').filter((id) => choices.bases.some((b) => b.id === id)),
    mode,
    unit: params.get('unit') === 'session' ? 'session' : 'user',
    metric: metrics.find((m) => m === params.get('metric')) ?? 'click_through',
    traffic: numberOf(params, 'traffic', [0, 100], 100),
    begin: params.get('begin') ?? '',
    days: numberOf(params, 'days', [0.01, 3650], 14),
    variants: variants.length >= 2 ? variants : beginning(choices),
    guards: params.getAll('guard').map(readGuard).slice(0, mostGuards),
    goal: {
      effect: params.get('effect') ?? (mode === 'split' ? '0.02' : '0.1'), power: params.get('power') ?? '0.8',
      base: params.get('base') ?? '', deviation: params.get('deviation') ?? '', units: params.get('units') ?? '',
    },
  }
}

/** The members that a variant changes; an error says that its text is no JSON object. */
export function requestOf(v: Variant): Record<string, unknown> | null {
  try {
    const members: unknown = v.members.trim() ? JSON.parse(v.members) : {}
    if (typeof members !== 'object' || members === null || Array.isArray(members)) return null
    return { ...(v.preset ? { preset: v.preset } : {}), ...members }
  } catch {
    return null
  }
}

/** A suggestion for the id: what is tried, and the month. */
export const suggestedID = (d: Draft, now: Date) => `${d.variants[1]?.name ?? 'new'}-${now.toISOString().slice(0, 7)}`

/** When it starts if it is made at a time. */
export function startOf(d: Draft, now: Date): Date {
  const begin = new Date(d.begin)
  return begin > now ? begin : now
}

/** The definition, made at a time; null: what a variant changes cannot be read. */
export function definitionOf(d: Draft, now: Date): LiveDefinition | null {
  const start = startOf(d, now)
  const requests = d.variants.map(requestOf)
  if (requests.some((r) => r === null)) return null
  const variants = d.variants.map((v, i) => ({
    name: v.name, share: d.mode === 'interleave' ? 0.5 : Math.round(Number(v.share) * 1e6) / 1e8,
    ...(Object.keys(requests[i]!).length > 0 ? { request: requests[i]! } : {}),
  }))
  const guards = d.guards.filter((g) => g.bound !== '').map((g) => ({ metric: g.metric, [d.mode === 'split' ? g.kind : 'at_most']: Number(g.bound) }))
  return {
    id: d.id || suggestedID(d, start), mode: d.mode, unit: d.unit, traffic: d.traffic / 100, variants,
    start: start.toISOString(), end: new Date(start.getTime() + d.days * 86_400_000).toISOString(),
    ...(d.mode === 'split' && d.metric !== 'click_through' ? { metric: d.metric } : {}),
    ...(d.kb.length > 0 ? { knowledge_bases: d.kb } : {}),
    ...(guards.length > 0 ? { guard_rails: guards } : {}),
  }
}

/** What is to be found; null: the effect is no number yet. */
export function goalOf({ goal: g }: Draft): ExperimentsGoal | null {
  if (!(Number(g.effect) > 0)) return null
  const given = { power: g.power, base: g.base, deviation: g.deviation, units_per_day: g.units }
  return { effect: Number(g.effect), ...Object.fromEntries(Object.entries(given).filter(([, v]) => v.trim() !== '').map(([name, v]) => [name, Number(v)])) }
}
