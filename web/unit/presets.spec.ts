import { expect, test } from '@playwright/test'
import type { PresetsDefinition } from '../src/api/schema'
import { definitionOf, lineOf, textOf } from '../src/lib/preset-text'

const mine = { base: 'rrf', weights: { text: 0.9, vector: 0.1 }, description: '退款: "yes" #1' } as PresetsDefinition

test('a definition is written as the configuration has it, and read again', () => {
  expect(textOf(mine)).toContain('weights:\n  text: 0.9\n')
  expect(definitionOf(textOf(mine))).toEqual({ definition: mine, problems: [] })
  expect(definitionOf(JSON.stringify(mine)).definition).toEqual(mine)
})

test('what cannot be read is told at its line, and is no definition', () => {
  const wrong = {
    'base: rrf\nweights: {text: 1': 2, 'base: rrf\n\nbase: linear': 3, 'rrf': 1, '- rrf': 1, '': 1,
    [`a: &a [x]\n${'bcdefghij'.split('').map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[i]}`).join(',')}]`).join('\n')}`]: 1,
  }
  for (const [text, line] of Object.entries(wrong)) {
    const { definition, problems } = definitionOf(text)
    expect(definition, text).toBeUndefined()
    expect(problems[0]?.line, text).toBe(line)
  }
})

test('a member that the gateway refuses is at its line, or where it should be', () => {
  const text = '# of ours\nbase: rrf\nweights:\n  text: 2\nsignals:\n  - recency: {field: date}\n'
  expect(lineOf(text, 'weights.text')).toBe(4)
  expect(lineOf(text, 'definition.signals[0].recency.half_life')).toBe(6)
  expect(lineOf(text, 'normalizer')).toBe(1)
})
