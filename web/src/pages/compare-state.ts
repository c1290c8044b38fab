import { useEffect, useReducer, useRef, useState } from 'react'
import type { CompareQuestion } from '../api/schema'
import { Answers, type Answer } from '../lib/answers'
import { api, ApiError } from '../lib/api'
import { enginesOf, type Choices } from '../lib/bases'
import { percent } from '../lib/format'
import { useLanguage, type Language, type Translate } from '../lib/i18n'
import { post, pre } from '../lib/marked'
import { numberOf } from '../lib/params'
import { single } from './search-state'

/** One column as the address has it: preset~weight~knowledge base~engine, each may be empty. */
export interface ColumnState {
  preset: string
  weight: number | null
  kb: string
  engine: string
}

export interface CompareState {
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
  return {
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

const presetOf = (c: ColumnState, choices: Choices) => c.preset || choices.standard
const weightOf = (c: ColumnState, choices: Choices) => (single.includes(presetOf(c, choices)) ? null : c.weight)

/** What tells a column from others: its preset, the share of keywords that is not the preset's own, where it searches. */
export function labelOf(c: ColumnState, choices: Choices, t: Translate): string {
  const weight = weightOf(c, choices)
  const place = placesOf(choices).find((p) => p.kb === c.kb && p.engine === c.engine)?.label ?? (c.kb || c.engine)
  return [presetOf(c, choices), weight === null ? '' : t('compare.weight.share', { percent: percent(weight) }), place].filter(Boolean).join(' · ')
}

/** The column to add: the first preset that none shows. */
export function furtherColumn(columns: ColumnState[], choices: Choices): ColumnState {
  const shown = columns.map((c) => presetOf(c, choices))
  const preset = [choices.standard, ...choices.presets].find((p) => !shown.includes(p)) ?? choices.standard
  return { preset: preset === choices.standard ? '' : preset, weight: null, kb: '', engine: '' }
}

export function questionOf(query: string, state: CompareState, choices: Choices, t: Translate): CompareQuestion {
  return {
    query,
    knowledge_bases: basesOf(state, choices),
    top_k: state.depth,
    highlight: { pre, post, fragment_size: 110, fragments: 1 },
    columns: state.columns.map((c) => {
      const weight = weightOf(c, choices)
      return {
        label: labelOf(c, choices, t),
        ...(c.preset ? { preset: c.preset } : {}),
        ...(weight === null ? {} : { weights: { text: weight, vector: Math.round((1 - weight) * 100) / 100 } }),
        ...(c.kb ? { knowledge_bases: [c.kb] } : {}),
        ...(c.engine ? { engine: c.engine } : {}),
      }
    }),
  } as CompareQuestion
}

export interface Comparisons {
  answers: (Answer | undefined)[] // one a question
  halted?: Error // why no further question is asked
  paused: boolean
  pause: (paused: boolean) => void
  again: () => void // asks what has failed
  anew: () => void // asks everything
}

/** The question to ask next: the one that is shown, then while nothing is paused the others in their order. */
export const nextOf = (open: Set<number>, shown: number, paused: boolean): number | undefined =>
  open.has(shown) ? shown : paused ? undefined : open.values().next().value

/** Whether an error is one of the gateway rather than of the question. */
export const halts = (e: Error) => !(e instanceof ApiError) || e.status < 400 || e.status >= 500 || [401, 403, 429].includes(e.status)

/**
 * Compares question after question, the one that is shown first; while paused no
 * other. What was answered before, in whatever order of columns, is not asked again.
 * Another list of questions begins anew, so it has to stay the same list between draws.
 */
export function useComparisons(questions: CompareQuestion[], at: number): Comparisons {
  const { language } = useLanguage()
  const answers = useRef<Partial<Record<Language, Answers>>>({}) // they hold texts
  const known = (answers.current[language] ??= new Answers())
  const [turn, setTurn] = useState(0)
  const [paused, pause] = useState(false)
  const [halted, setHalted] = useState<Error>()
  const [, draw] = useReducer((n: number) => n + 1, 0)
  const shown = useRef(at)
  shown.current = at
  useEffect(() => {
    const abort = new AbortController()
    const open = new Set(questions.flatMap((q, i) => (known.find(q) === undefined ? [i] : [])))
    const next = () => nextOf(open, shown.current, paused)
    const run = async () => {
      for (let i = next(); i !== undefined; i = next()) {
        const answer = await api.compare(questions[i]!, abort.signal).catch((e: Error) => e)
        if (abort.signal.aborted) return
        if (answer instanceof Error && halts(answer)) return setHalted(answer)
        open.delete(i)
        known.add(questions[i]!, answer)
        draw()
      }
    }
    setHalted(undefined)
    const timer = setTimeout(() => void run(), 100)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
    // What is shown next matters only where nothing else is asked.
  }, [questions, turn, paused, paused ? at : 0, language])
  const restart = (forget: () => void) => {
    forget()
    setTurn((n) => n + 1)
  }
  return {
    answers: questions.map((q) => known.find(q)),
    halted,
    paused,
    pause,
    again: () => restart(() => known.forgetErrors()),
    anew: () => restart(() => known.forget()),
  }
}

/** The least agreement between any two columns; null where none is known. */
export function least(matrix: (((number | null)[] | null)[]) | null): number | null {
  const off = (matrix ?? []).flatMap((row, i) => (row ?? []).filter((v, j): v is number => i < j && v !== null))
  return off.length > 0 ? Math.min(...off) : null
}
