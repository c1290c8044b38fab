import type { RulesRule, RulesTarget } from '../api/schema'

/** Documents and chunks as lines: a chunk as it is, a document after this. */
export const ofDocument = 'document: '

export function linesOf(targets: readonly RulesTarget[] | null | undefined): string {
  return (targets ?? []).map((target) => (target.document_id ? ofDocument + target.document_id : target.chunk_id ?? '')).join('\n')
}

export function targetsOf(lines: string): RulesTarget[] {
  return listOf(lines).map((line) => (line.startsWith(ofDocument.trim()) ? { document_id: line.slice(ofDocument.trim().length).trim() } : { chunk_id: line }))
}

export const listOf = (lines: string) => lines.split('\n').map((line) => line.trim()).filter(Boolean)

/** A rule whose name no other one has. */
export function newRule(rules: RulesRule[], name: string): RulesRule {
  let n = rules.length + 1
  while (rules.some((r) => r.name === `${name} ${n}`)) n++
  return { name: `${name} ${n}`, when: { match: 'contains', queries: [] } }
}

/** The rules with one moved a place up. */
export function raised(rules: RulesRule[], at: number): RulesRule[] {
  const next = [...rules]
  const [one] = next.splice(at, 1)
  if (one) next.splice(at - 1, 0, one)
  return next
}
