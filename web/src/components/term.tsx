import { lazy, Suspense, useEffect, useRef, useState, useSyncExternalStore, type ComponentType, type ReactNode } from 'react'
import type { TermCardProps, TermName } from './term-card'

// The explanations are loaded when the first one is wanted; a page does without those that do not arrive.
const Card = lazy<ComponentType<TermCardProps>>(() => import('./term-card').catch(() => ({ default: () => null })))

/** Who draws a term, in the order of the page: only the first explains it. */
const drawn = new Map<string, symbol[]>()
const listeners = new Set<() => void>()

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function tell(name: string, all: symbol[]) {
  drawn.set(name, all)
  for (const hear of listeners) hear()
}

function useFirst(name: string): boolean {
  const [me] = useState(() => Symbol(name))
  useEffect(() => {
    tell(name, [...(drawn.get(name) ?? []), me])
    return () => tell(name, (drawn.get(name) ?? []).filter((other) => other !== me))
  }, [name, me])
  return useSyncExternalStore(subscribe, () => drawn.get(name)?.[0] === me)
}

const patience = 350 // milliseconds that a pointer rests before it is taken for a question

/** A word of the field, which says what it means when it is pointed at, focused or tapped. */
export function Term({ name, children }: { name: TermName; children: ReactNode }) {
  const first = useFirst(name)
  const anchor = useRef<HTMLSpanElement>(null)
  const timer = useRef(0)
  const [open, setOpen] = useState(false)
  const [wanted, setWanted] = useState(false)
  useEffect(() => () => clearTimeout(timer.current), [])
  if (!first) return children
  const show = () => {
    clearTimeout(timer.current)
    setWanted(true)
    setOpen(true)
  }
  return (
    <>
      {/* No button: a label may not have one in it. */}
      <span
        ref={anchor}
        className="term"
        role="button"
        tabIndex={0}
        aria-expanded={open}
        onPointerEnter={(e) => {
          if (e.pointerType === 'mouse') timer.current = window.setTimeout(show, patience)
        }}
        onPointerLeave={() => clearTimeout(timer.current)}
        onFocus={(e) => { if (e.currentTarget.matches(':focus-visible')) show() }}
        onClick={(e) => {
          e.preventDefault() // which would go to the control of a label
          e.stopPropagation()
          show()
        }}
        onKeyDown={(e) => {
          if (e.key === 'Enter' || e.key === ' ') {
            e.preventDefault()
            show()
          }
        }}
      >
        {children}
      </span>
      {wanted && anchor.current ? (
        <Suspense fallback={null}><Card name={name} anchor={anchor.current} open={open} setOpen={setOpen} /></Suspense>
      ) : null}
    </>
  )
}
