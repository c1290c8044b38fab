import { LineCounter, parseDocument, stringify, type Document } from 'yaml'
import type { PresetsDefinition } from '../api/schema'
import type { Problem } from './editing'

/** A definition as the configuration has it. */
export const textOf = (definition: PresetsDefinition) => stringify(definition, { lineWidth: 0 })

/** A definition of YAML, which JSON is too; or what is wrong with the text, at its line. */
export function definitionOf(text: string): { definition?: PresetsDefinition; problems: Problem[] } {
  const [document, lines] = read(text)
  const problems = document.errors.map((e) => ({ line: lines.linePos(e.pos[0]).line, detail: e.message }))
  if (problems.length > 0) return { problems }
  try {
    const value: unknown = document.toJS()
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { definition: value as PresetsDefinition, problems }
    return { problems: [{ line: 1, detail: 'base: …' }] }
  } catch (e) { // aliases that unfold without end
    return { problems: [{ line: 1, detail: (e as Error).message }] }
  }
}

/** The line of a member that the gateway names, as weights.text; of the part of the way that is there. */
export function lineOf(text: string, field: string): number {
  const [document, lines] = read(text)
  const way = field.split(/[.[\]]+/).filter((step) => step !== '' && step !== 'definition').map((step) => (/^\d+$/.test(step) ? Number(step) : step))
  for (; way.length > 0; way.pop()) {
    const node = document.getIn(way, true) as { range?: [number, number, number] } | undefined
    if (node?.range) return lines.linePos(node.range[0]).line
  }
  return 1
}

function read(text: string): [Document, LineCounter] {
  const lines = new LineCounter()
  return [parseDocument(text, { lineCounter: lines, prettyErrors: false }), lines]
}
