import { useEffect, useState } from 'react'
import type { CompareComparison, CompareQuestion } from '../api/schema'
import { api } from '../lib/api'
import { enginesOf, type Choices } from '../lib/bases'
import { post, pre } from '../lib/marked'
import { numberOf } from '../lib/url'

/** One column as the address has it: preset~weight~knowledge base~engine, each may be empty. */
export interface ColumnState {
  preset: string
  weight: number | null
  kb: string
  engine: string
}

export interface CompareState {
  questions: string[]
  kb: string[]
  depth: number
  columns: ColumnState[]
  at: number // the question that is shown
}

export const most = 6
export const depths = [5, 10, 20, 50]
const standard = ['~~', 'text~~', 'vector~~']

const within = (n: number, low: number, high: number) => (Number.isFinite(n) ? Math.min(high, Math.max(low, n)) : low)

export function readColumn(text: string): ColumnState {
  const [preset = '', weight = '', kb = '', engine = ''] = text.split('~')
  return { preset, weight: weight === '' ? null : within(Number(weight), 0, 1), kb, engine }
}

export const writeColumn = (c: ColumnState) =>
  [c.preset, c.weight ?? '', c.kb, ...(c.engine ? [c.engine] : [])].join('~')

/** Where a column may search: each knowledge base, on each of its engines. */
export const placesOf = (choices: Choices) => choices.bases.flatMap((b) =>
  enginesOf(b).map((engine, i, all) => ({
    kb: b.id, engine: all.length > 1 && i > 0 ? engine : '', label: `${b.name || b.id} · ${engine}`,
  })))

export function readCompare(params: URLSearchParams): CompareState {
  const columns = params.getAll('col').slice(0, most)
  const questions = (params.get('q') ?? '').split('\n').map((q) => q.trim()).filter(Boolean)
  return {
    questions: [...new Set(questions)],
    kb: params.getAll('kb'),
    depth: Math.round(numberOf(params, 'k', [1, 100], 10)),
    columns: (columns.length >= 2 ? columns : standard).map(readColumn),
    at: Math.round(numberOf(params, 'at', [0, 10_000], 0)),
  }
}

export const basesOf = (state: CompareState, choices: Choices) => {
  const there = choices.bases.map((b) => b.id)
  const named = state.kb.filter((id) => there.includes(id))
  return named.length > 0 ? named : there
}

export function questionOf(query: string, state: CompareState, bases: string[], standardPreset: string): CompareQuestion {
  return {
    query,
    knowledge_bases: bases,
    top_k: state.depth,
    highlight: { pre, post, fragment_size: 110, fragments: 1 },
    columns: state.columns.map((c) => ({
      label: [c.preset || standardPreset, c.weight === null ? '' : c.weight.toFixed(2), c.kb, c.engine].filter(Boolean).join(' · '),
      ...(c.preset ? { preset: c.preset } : {}),
      ...(c.weight === null ? {} : { weights: { text: c.weight, vector: Math.round((1 - c.weight) * 100) / 100 } }),
      ...(c.kb ? { knowledge_bases: [c.kb] } : {}),
      ...(c.engine ? { engine: c.engine } : {}),
    })),
  } as CompareQuestion
}

export type Answered = CompareComparison | Error | undefined

/** Compares question after question; those still under way are undefined. */
export function useComparisons(questions: CompareQuestion[]): { answers: Answered[]; again: () => void } {
  const key = JSON.stringify(questions)
  const [state, setState] = useState<{ key: string; answers: Answered[] }>({ key: '', answers: [] })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    const run = async () => {
      for (const [i, question] of questions.entries()) {
        const answer = await api.compare(question, abort.signal).catch((e: Error) => e)
        if (abort.signal.aborted) return
        setState((s) => {
          const answers = s.key === key ? [...s.answers] : questions.map((_, at) => s.answers[at])
          answers[i] = answer
          return { key, answers: i === 0 && s.key !== key ? [answer, ...questions.slice(1).map(() => undefined)] : answers }
        })
      }
    }
    const timer = setTimeout(() => void run(), 60)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
    // The key stands for the questions.
  }, [key, turn])
  return { answers: state.answers, again: () => setTurn((n) => n + 1) }
}

/** The least agreement between any two columns; null where none is known. */
export function least(matrix: (((number | null)[] | null)[]) | null): number | null {
  const off = (matrix ?? []).flatMap((row, i) => (row ?? []).filter((v, j): v is number => i < j && v !== null))
  return off.length > 0 ? Math.min(...off) : null
}
