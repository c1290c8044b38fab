// Questions too long for an address are kept as a set, by an id that their text alone decides.

/** Keeps sets of questions. This browser does; a gateway that keeps them can take its place. */
export interface QuestionSets {
  /** Answers the set's id, the same for the same questions. Fails when there is no room. */
  keep(questions: string[]): Promise<string>
  /** Nothing where no set has that id, or has it no longer. */
  read(id: string): Promise<string[] | undefined>
}

const slot = 'hybridge.questions'
export const setsAtMost = 20
export const setSize = 1_000_000 // characters, of a set and of all of them; a browser has some 5 MB for everything

type Kept = [id: string, text: string]

/** The set used last comes first. */
function load(): Kept[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(slot) ?? '[]')
    return Array.isArray(kept) ? (kept as Kept[]) : []
  } catch {
    return []
  }
}

/** Puts a set first; the oldest go until the others have room. */
function put(id: string, text: string) {
  if (text.length > setSize) throw new RangeError('too many questions')
  const kept: Kept[] = [[id, text], ...load().filter(([other]) => other !== id).slice(0, setsAtMost - 1)]
  while (kept.reduce((n, [, t]) => n + t.length, 0) > setSize) kept.pop()
  for (;;) {
    try {
      return localStorage.setItem(slot, JSON.stringify(kept))
    } catch (error) {
      if (kept.length === 1) throw error
      kept.pop()
    }
  }
}

/** 64 bits of FNV-1a, the same for the same text: no secret hangs on it, and crypto.subtle is missing where a gateway is reached without TLS. */
export function idOf(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (let i = 0; i < text.length; i++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n)
  }
  return hash.toString(36)
}

export const questionSets: QuestionSets = {
  async keep(questions) {
    const text = questions.join('\n')
    const id = idOf(text)
    put(id, text)
    return id
  },
  async read(id) {
    const text = load().find(([other]) => other === id)?.[1]
    if (text === undefined) return undefined
    put(id, text)
    return text.split('\n')
  },
}
