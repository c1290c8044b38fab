import { json } from '@codemirror/lang-json'
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language'
import type { EditorState, Extension } from '@codemirror/state'
import type { SyntaxNode, Tree } from '@lezer/common'
import { tags } from '@lezer/highlight'
import type { EditorProps } from '../lib/editing'

/** Rules of synonyms in Solr's format: a, b => c^0.5. */
const synonyms = StreamLanguage.define({
  name: 'synonyms',
  token(stream) {
    if (stream.sol() && stream.match(/\s*#.*/)) return 'comment'
    if (stream.match('=>')) return 'operator'
    if (stream.match(/\^\s*[\d.]+/)) return 'number'
    if (stream.match(/\\./) || stream.match(/[^,=^\\]+/)) return 'string'
    return stream.next() === ',' ? 'punctuation' : null
  },
})

/** What presets are written with: members, numbers, texts and comments of YAML. */
const yaml = StreamLanguage.define({
  name: 'yaml',
  token(stream) {
    if (stream.match(/\s+/)) return null
    if (stream.match(/#.*/)) return 'comment'
    if (stream.match(/("[^"]*"|'[^']*'|[\w-]+)(?=\s*:(\s|$))/)) return 'propertyName'
    if (stream.match(/(-?[\d.]+|true|false|null)(?=[\s,}\]]|$)/)) return 'number'
    if (stream.match(/[[\]{},:-]/)) return 'punctuation'
    return stream.match(/"[^"]*"?|'[^']*'?|[^,:{}[\]#]+/) ? 'string' : (stream.next(), null)
  },
})

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--ink)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--text-leg-ink)' },
  { tag: [tags.operator], color: 'var(--accent)', fontWeight: '600' },
  { tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: 'var(--soft)' },
])

/** A language with its colours. */
export function languageOf(name: EditorProps['language']): Extension {
  return [{ json: json(), yaml, synonyms }[name], syntaxHighlighting(colours)]
}

const nests = (name: string) => name === 'Object' || name === 'Array'

/** What stands within objects and lists that are deeper than depth. */
export function deeperThan(depth: number, tree: Tree): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = []
  let level = 0
  tree.iterate({
    enter(node) {
      if (!nests(node.name)) return
      level++
      if (level === depth + 1 && node.to - node.from > 40) found.push({ from: node.from + 1, to: node.to - 1 })
    },
    leave: (node) => void (nests(node.name) && level--),
  })
  return found
}

/** Where a member is that the gateway names, as weights.text or systems[1].request; the part of the way that is there. */
export function placeOf(field: string, state: EditorState, tree: Tree): { from: number; to: number } | null {
  let at = tree.topNode.firstChild
  let place: { from: number; to: number } | null = null
  for (const step of field.matchAll(/[^.[\]]+/g)) {
    if (at?.name === 'Array') at = childAt(at, Number(step[0]))
    else at = at?.name === 'Object' ? memberOf(at, step[0], state) : null
    if (!at) break
    place = { from: at.parent?.name === 'Property' ? at.parent.from : at.from, to: at.to }
  }
  return place
}

function memberOf(object: SyntaxNode, name: string, state: EditorState): SyntaxNode | null {
  for (const property of object.getChildren('Property')) {
    const key = property.getChild('PropertyName')
    if (key && state.sliceDoc(key.from + 1, key.to - 1) === name) return property.lastChild
  }
  return null
}

function childAt(list: SyntaxNode, index: number): SyntaxNode | null {
  let at = list.firstChild
  for (let i = -1; at; at = at.nextSibling) {
    if (!['[', ']', ','].includes(at.name) && ++i === index) return at
  }
  return null
}
