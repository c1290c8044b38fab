import type { CompareColumn, CompareComparison, CompareQuestion } from '../api/schema'

export type Answer = CompareComparison | Error

interface Kept {
  asked: string
  columns: string[]
  answer: Answer
}

const most = 3 // of one question

const about = ({ columns: _, ...question }: CompareQuestion) => JSON.stringify(question)
const unlabelled = ({ label: _, ...column }: CompareColumn) => JSON.stringify(column)

/**
 * What was answered. Columns do not depend on each other, so an answer with
 * more of them is also one with fewer, and one in another order.
 */
export class Answers {
  private kept = new Map<string, Kept[]>()

  find(question: CompareQuestion): Answer | undefined {
    const all = this.kept.get(about(question)) ?? []
    const columns = question.columns ?? []
    const asked = JSON.stringify(columns)
    const same = all.find((k) => k.asked === asked)
    if (same) return same.answer
    const wanted = columns.map(unlabelled)
    for (const { columns: there, answer } of all) {
      const places = wanted.map((w) => there.indexOf(w))
      if (!(answer instanceof Error) && !places.includes(-1)) return this.add(question, arranged(answer, places, columns))
    }
    return undefined
  }

  add(question: CompareQuestion, answer: Answer): Answer {
    const columns = question.columns ?? []
    const one = { asked: JSON.stringify(columns), columns: columns.map(unlabelled), answer }
    const others = this.kept.get(about(question)) ?? []
    this.kept.set(about(question), [one, ...others.slice(0, most - 1)])
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
