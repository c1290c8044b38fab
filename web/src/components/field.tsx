import { useId, type ReactNode } from 'react'

/** A labelled control; the control takes the id that it is given. */
export function Field({ label, hint, children }: { label: string; hint?: string; children: (id: string, hintId?: string) => ReactNode }) {
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
  label: string
  value: string
  options: { value: string; label: string }[]
  choose: (value: string) => void
}

/** One of several values, by the browser's own list. */
export function Select({ label, value, options, choose }: SelectProps) {
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} className="input" value={value} onChange={(e) => choose(e.target.value)}>
          {options.map((o) => (
            <option key={o.value} value={o.value}>{o.label}</option>
          ))}
        </select>
      )}
    </Field>
  )
}
