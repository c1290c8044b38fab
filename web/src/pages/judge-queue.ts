// Judging as a machine: which hit is next, and what is undone.
import type { SearchHit } from '../api/schema'
import { keyOf } from './judge-state'

/** What was done, to be undone. */
export interface Done {
  at: number // the question
  hit: SearchHit
  grade: number | null // null: skipped
  time?: string // of the grade, which an undo takes back and no other
}

export type Event = { name: 'done'; done: Done } | { name: 'undone' | 'begun' }

export function after(all: Done[], e: Event): Done[] {
  switch (e.name) {
    case 'done': return [...all, e.done]
    case 'undone': return all.slice(0, -1)
    case 'begun': return []
  }
}

/** The hits of a question that nothing was done with, in their order. */
export function openOf(hits: SearchHit[], all: Done[], at: number): SearchHit[] {
  const passed = new Set(all.filter((d) => d.at === at).map((d) => keyOf(d.hit)))
  return hits.filter((h) => !passed.has(keyOf(h)))
}

export const gradedIn = (all: Done[]) => all.filter((d) => d.grade !== null).length

export type Act = { name: 'grade'; grade: number } | { name: 'skip' | 'undo' | 'note' }

const others = new Map<string, Act>([['s', { name: 'skip' }], ['u', { name: 'undo' }], ['n', { name: 'note' }]])

/** What a key does where nothing is being typed; null: nothing, as a grade above the most. */
export function actOf(key: string, most: number): Act | null {
  if (/^\d$/.test(key)) return Number(key) <= most ? { name: 'grade', grade: Number(key) } : null
  return others.get(key) ?? null
}
