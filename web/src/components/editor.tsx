import { Suspense, useState, type ReactNode } from 'react'
import type { EditorProps, Problem } from '../lib/editing'
import { useText } from '../lib/i18n'
import { later } from '../lib/later'
import '../styles/editor.css'

/** CodeMirror weighs as much as all else of a page: it is loaded when a text is to be edited. */
const View = later<EditorProps>(() => import('./editor-view'))

interface Props extends Omit<EditorProps, 'problems' | 'jump'> {
  label: ReactNode
  problems?: Problem[]
}

const none: Problem[] = []

/** A text with line numbers, colours and problems where they are; Tab leaves it. */
export function Editor({ label, name, hint, value, change, submit, language, problems = none, depth }: Props) {
  const t = useText()
  const [jump, setJump] = useState<{ line: number }>()
  return (
    <div className="field">
      <span>{label}</span>
      <Suspense fallback={<pre className="code" aria-busy="true">{value.slice(0, 10_000)}</pre>}>
        <View name={name} hint={hint} value={value} change={change} submit={submit} language={language} problems={problems} depth={depth} jump={jump} />
      </Suspense>
      {hint ? <p className="hint">{hint}</p> : null}
      <div role="status">
        {problems.length > 0 ? (
          <ul className="problems">
            {problems.slice(0, 20).map((p, i) => (
              <li key={i}>
                {p.line ? <button type="button" className="linkish" onClick={() => setJump({ line: p.line ?? 1 })}>{t('editor.line', { line: p.line })}</button> : null}
                <span>{p.detail}</span>
              </li>
            ))}
            {problems.length > 20 ? <li className="quiet">{t('editor.more', { count: problems.length - 20 })}</li> : null}
          </ul>
        ) : null}
      </div>
    </div>
  )
}
