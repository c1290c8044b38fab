import { useEffect, useRef, useState } from 'react'
import { useText } from '../lib/i18n'
import { Icon } from './icons'

/** Copies a text and says that it did. */
export function Copy({ text, label }: { text: () => string; label: string }) {
  const t = useText()
  const [done, setDone] = useState(false)
  const timer = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async () => {
    await navigator.clipboard.writeText(text())
    setDone(true)
    timer.current = window.setTimeout(() => setDone(false), 2000)
  }
  return (
    <button type="button" className="button compact" onClick={() => void copy()}>
      <Icon name={done ? 'check' : 'copy'} />
      <span aria-live="polite">{done ? t('app.copied') : label}</span>
    </button>
  )
}

/** Code to read and to copy. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <pre className="code" tabIndex={0} aria-label={label} role="region">
      {text}
    </pre>
  )
}
