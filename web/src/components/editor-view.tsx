import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, codeFolding, ensureSyntaxTree, foldEffect, foldGutter, foldKeymap, unfoldAll } from '@codemirror/language'
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useLayoutEffect, useRef } from 'react'
import type { EditorProps, Problem } from '../lib/editing'
import { useText, type Translate } from '../lib/i18n'
import { deeperThan, languageOf, placeOf } from './editor-languages'

const look = EditorView.theme({
  '&': { background: 'var(--panel)', color: 'var(--ink)', border: '1px solid var(--line-strong)', borderRadius: '7px', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', maxHeight: '60vh', borderRadius: '6px' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--ink)' },
  '.cm-content, .cm-gutter': { minHeight: 'var(--editor-height, 120px)' },
  '.cm-content[aria-readonly]': { outline: 'none' },
  '.cm-gutters': { background: 'var(--sunken)', color: 'var(--soft)', border: '0', borderRight: '1px solid var(--line)' },
  '.cm-foldGutter span': { cursor: 'pointer', color: 'var(--soft)', padding: '0 3px' },
  '.cm-foldPlaceholder': { background: 'var(--sunken)', border: '1px solid var(--line)', color: 'var(--soft)', padding: '0 6px', borderRadius: '5px', cursor: 'pointer', display: 'inline-block', maxWidth: 'calc(100% - 9ch)', overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap', verticalAlign: 'bottom', lineHeight: '1.45' },
  '.cm-tooltip': { background: 'var(--panel)', color: 'var(--ink)', border: '1px solid var(--line-strong)', borderRadius: '7px', boxShadow: 'var(--shadow)' },
  '.cm-diagnostic': { fontFamily: 'var(--sans)', padding: '5px 9px', borderLeft: '3px solid var(--bad)' },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad) 1px', textUnderlineOffset: '3px' },
  '.cm-matchingBracket': { background: 'var(--accent-wash) !important', outline: '1px solid var(--accent)' },
})

/** CodeMirror in a shadow root, whose styles need no inline style; the page's colours reach into it. */
export default function EditorViewPart({ name, hint, value, change, submit, language, problems, depth, jump }: EditorProps) {
  const t = useText()
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const shown = useRef(value)
  const acts = useRef({ change, submit })
  useEffect(() => void (acts.current = { change, submit }))
  const attributes = useRef(new Compartment())
  const readOnly = change === undefined
  const said = attributesOf(name, hint, readOnly, problems.length > 0)

  useEffect(() => {
    const root = host.current?.shadowRoot ?? host.current?.attachShadow({ mode: 'open' })
    if (!root) return
    const state = EditorState.create({ doc: shown.current, extensions: [
      attributes.current.of(said),
      keymap.of([{ key: 'Mod-Enter', run: (v) => (acts.current.submit?.(v.state.doc.toString()), acts.current.submit !== undefined) }]), extensionsOf(language, readOnly, t),
      EditorView.updateListener.of((u) => {
        if (!u.docChanged) return
        const text = u.state.doc.toString()
        if (text === shown.current) return
        shown.current = text
        acts.current.change?.(text)
      }),
    ] })
    const made = (view.current = new EditorView({ state, parent: root, root }))
    return () => made.destroy()
    // What it says and shows besides comes by the effects below.
  }, [language, readOnly, t])

  // With the drawing itself: later, letters typed meanwhile would be written over by the text from before them.
  useLayoutEffect(() => {
    if (value === shown.current) return
    shown.current = value
    view.current?.dispatch({ changes: { from: 0, to: view.current.state.doc.length, insert: value } })
  }, [value])

  useEffect(() => view.current?.dispatch({ effects: attributes.current.reconfigure(said) }), [name, hint, readOnly, problems.length > 0, language, t])

  useEffect(() => {
    const v = view.current
    if (v) v.dispatch(setDiagnostics(v.state, problems.map((p) => diagnosticOf(p, v.state)).sort((a, b) => a.from - b.from)))
  }, [problems, language, readOnly, t])

  useEffect(() => {
    const v = view.current
    if (!v || !readOnly) return
    unfoldAll(v)
    const tree = depth === undefined ? null : ensureSyntaxTree(v.state, v.state.doc.length, 500)
    if (tree && depth !== undefined) v.dispatch({ effects: deeperThan(depth, tree).map((range) => foldEffect.of(range)) })
  }, [value, depth, readOnly, language, t])

  useEffect(() => {
    const v = view.current
    if (!v || !jump) return
    const at = v.state.doc.line(Math.min(Math.max(jump.line, 1), v.state.doc.lines)).from
    v.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) })
    v.focus()
  }, [jump])

  return <div ref={host} className={`editor${readOnly ? ' read' : ''}`} />
}

function attributesOf(name: string, hint: string | undefined, readOnly: boolean, wrong: boolean): Extension {
  return EditorView.contentAttributes.of({
    'aria-label': name, ...(hint ? { 'aria-description': hint } : {}), ...(readOnly ? { tabindex: '0', 'aria-readonly': 'true' } : {}),
    ...(wrong ? { 'aria-invalid': 'true' } : {}), spellcheck: 'false', autocorrect: 'off', autocapitalize: 'off',
  })
}

function extensionsOf(language: EditorProps['language'], readOnly: boolean, t: Translate): Extension {
  const folds = language === 'json' ? [foldGutter(), codeFolding({ preparePlaceholder: within, placeholderDOM }), bracketMatching(), keymap.of(foldKeymap)] : []
  const writes = readOnly ? [EditorState.readOnly.of(true), EditorView.editable.of(false)] : [history(), keymap.of(historyKeymap), lintGutter(), overwrites]
  return [
    lineNumbers(), folds, writes, keymap.of(defaultKeymap), languageOf(language), EditorView.lineWrapping, look,
    EditorState.phrases.of({ 'Fold line': t('editor.fold'), 'Unfold line': t('editor.unfold') }),
  ]
}

/** What is selected by the browser, which knows it sooner than the editor. */
function selected(view: EditorView): { from: number; to: number } {
  const root = view.root as { getSelection?: () => Selection | null } // of a shadow root not in every browser
  const s = root.getSelection?.() ?? document.getSelection()
  if (!s?.anchorNode || !s.focusNode || !view.contentDOM.contains(s.anchorNode) || !view.contentDOM.contains(s.focusNode)) return view.state.selection.main
  const ends = [view.posAtDOM(s.anchorNode, s.anchorOffset), view.posAtDOM(s.focusNode, s.focusOffset)] as const
  return { from: Math.min(...ends), to: Math.max(...ends) }
}

/** Writes over what is selected: what a browser makes of lines that it joins has inline styles, which the page's policy refuses. */
const overwrites = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const writes = event.inputType === 'insertText' || event.inputType === 'insertReplacementText'
    if (view.state.readOnly || event.isComposing || view.composing || !(writes || event.inputType.startsWith('delete'))) return false
    const range = selected(view)
    const insert = view.state.toText(writes ? event.data ?? '' : '')
    if (range.from === range.to && insert.lines === 1) return false
    event.preventDefault()
    view.dispatch({ changes: { ...range, insert }, selection: { anchor: range.from + insert.length }, userEvent: writes ? 'input.type' : 'delete', scrollIntoView: true })
    return true
  },
})

/** What is folded, as far as it has room in its place. */
function within(state: EditorState, { from, to }: { from: number; to: number }): string {
  const text = state.sliceDoc(from, Math.min(to, from + 400)).replace(/\s+/g, ' ').trim()
  return text.length > 90 ? `${text.slice(0, 90)}…` : text
}

function placeholderDOM(_: EditorView, open: (event: Event) => void, text: string): HTMLElement {
  const shown = document.createElement('span')
  shown.className = 'cm-foldPlaceholder'
  shown.textContent = text
  shown.onclick = open
  return shown
}

function diagnosticOf(p: Problem, state: EditorState): Diagnostic {
  const tree = p.field ? ensureSyntaxTree(state, state.doc.length, 200) : null
  const named = p.field && tree ? placeOf(p.field, state, tree) : null
  if (named) return { ...named, severity: 'error', message: p.detail }
  const line = state.doc.line(Math.min(Math.max(p.line ?? 1, 1), state.doc.lines))
  return { from: line.from, to: line.to, severity: 'error', message: p.detail }
}
