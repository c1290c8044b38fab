import { useId, type ReactNode } from 'react'

/** A labelled control; the control takes the id that it is given. */
export function Field({ label, hint, children }: { label: ReactNode; hint?: ReactNode; children: (id: string, hintId?: string) => ReactNode }) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id, hint ? `${id}-hint` : undefined)}
      {hint ? <p id={`${id}-hint`} className="hint">{hint}</p> : null}
    </div>
  )
}

interface SelectProps {
  label: ReactNode
  value: string
  options: { value: string; label: string }[]
  choose: (value: string) => void
  hint?: ReactNode
}

/** One of several values, by the browser's own list. */
export function Select({ label, value, options, choose, hint }: SelectProps) {
  return (
    <Field label={label} hint={hint}>
      {(id, hintId) => (
        <select id={id} className="input" aria-describedby={hintId} value={value} onChange={(e) => choose(e.target.value)}>
          {options.map((o) => (
            <option key={o.value} value={o.value}>{o.label}</option>
          ))}
        </select>
      )}
    </Field>
  )
}
