import { diffLines } from 'diff'

/** A line of two texts: only in the new one, only in the old one, or in both; a gap stands for lines that are the same. */
export interface DiffLine {
  kind: 'added' | 'removed' | 'same' | 'gap'
  text: string
  before?: number // its number there, from 1
  after?: number
}

const context = 2 // lines around a change

/** What differs between two texts, line by line; null: too much to be compared in time. */
export function linesThatDiffer(before: string, after: string): DiffLine[] | null {
  const ended = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
  const changes = diffLines(ended(before), ended(after), { timeout: 2000 })
  if (!changes) return null
  let [b, a] = [1, 1]
  const all = changes.flatMap((change) => {
    const kind = change.added ? 'added' as const : change.removed ? 'removed' as const : 'same' as const
    return change.value.split('\n').slice(0, -1).map((text): DiffLine => ({
      kind, text, ...(kind === 'added' ? {} : { before: b++ }), ...(kind === 'removed' ? {} : { after: a++ }),
    }))
  })
  const near = all.map(() => false)
  all.forEach((line, i) => line.kind !== 'same' && near.fill(true, Math.max(0, i - context), i + context + 1))
  return all.flatMap((line, i) => (near[i] ? [line] : i === 0 || near[i - 1] ? [{ kind: 'gap' as const, text: '' }] : []))
}
