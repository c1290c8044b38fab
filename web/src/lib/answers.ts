import type { CompareColumn, CompareComparison, CompareQuestion } from '../api/schema'

export type Answer = CompareComparison | Error

interface Kept {
  asked: string
  columns: string[]
  answer: Answer
}

const most = 3 // of one question

const unlabelled = ({ label: _, ...column }: CompareColumn) => JSON.stringify(column)

/** What a question is known by, written once: a list of a thousand is looked up on every draw. */
const names = new WeakMap<CompareQuestion, { about: string; asked: string; columns: string[] }>()

function named(question: CompareQuestion) {
  let name = names.get(question)
  if (!name) {
    const { columns, ...about } = question
    name = { about: JSON.stringify(about), asked: JSON.stringify(columns ?? []), columns: (columns ?? []).map(unlabelled) }
    names.set(question, name)
  }
  return name
}

/**
 * What was answered. Columns do not depend on each other, so an answer with
 * more of them is also one with fewer, and one in another order.
 */
export class Answers {
  private kept = new Map<string, Kept[]>()

  find(question: CompareQuestion): Answer | undefined {
    const { about, asked, columns: wanted } = named(question)
    const all = this.kept.get(about) ?? []
    const same = all.find((k) => k.asked === asked)
    if (same) return same.answer
    for (const { columns: there, answer } of all) {
      const places = wanted.map((w) => there.indexOf(w))
      if (!(answer instanceof Error) && !places.includes(-1)) return this.add(question, arranged(answer, places, question.columns ?? []))
    }
    return undefined
  }

  add(question: CompareQuestion, answer: Answer): Answer {
    const { about, ...one } = named(question)
    const others = this.kept.get(about) ?? []
    this.kept.set(about, [{ ...one, answer }, ...others.slice(0, most - 1)])
    return answer
  }

  forgetErrors() {
    for (const [question, all] of this.kept) this.kept.set(question, all.filter((k) => !(k.answer instanceof Error)))
  }

  forget() {
    this.kept.clear()
  }
}

/** The columns of a comparison at these places, as one of its own. */
function arranged(c: CompareComparison, places: number[], columns: CompareColumn[]): CompareComparison {
  const of = (m: CompareComparison['rbo']) => places.map((a) => places.map((b) => m?.[a]?.[b] ?? null))
  const moves = (c.moves ?? []).map((m) => {
    const ranks = places.map((p) => m.ranks?.[p] ?? null)
    const first = ranks[0] ?? null
    const moved = ranks.map((r) => (first === null || r === null ? null : first - r))
    return { id: m.id, ranks, moved, unique: ranks.filter((r) => r !== null).length === 1 }
  })
  return {
    ...c,
    columns: places.map((p, i) => ({ ...c.columns![p]!, label: columns[i]?.label ?? '' })),
    overlap: of(c.overlap),
    rbo: of(c.rbo),
    kendall_tau: of(c.kendall_tau),
    moves: moves.filter((m) => m.ranks.some((r) => r !== null)),
  }
}
