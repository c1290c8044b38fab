// Keys of one letter, for those who want them: never while something is typed or a dialog is open.
import { useEffect, useRef } from 'react'

const slot = 'hybridge.keys'

export const letters = {
  on: () => localStorage.getItem(slot) !== 'off',
  set: (on: boolean) => localStorage.setItem(slot, on ? 'on' : 'off'),
}

const mac = /Mac|iPhone|iPad/.test(navigator.platform)

/** What opens the palette here, as a keyboard has it. */
export const paletteKey = mac ? '⌘K' : 'Ctrl K'

const opensPalette = (e: KeyboardEvent) => e.key.toLowerCase() === 'k' && (mac ? e.metaKey && !e.ctrlKey : e.ctrlKey && !e.metaKey) && !e.altKey && !e.shiftKey

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('textarea, select, input:not([type="checkbox"], [type="radio"], [type="button"])'))

/** Has acts done by their keys, and palette by its own, which types nothing and so works in fields too. */
export function useKeys(acts: Record<string, () => void>, palette: () => void) {
  const now = useRef({ acts, palette })
  useEffect(() => void (now.current = { acts, palette }))
  useEffect(() => {
    const hear = (e: KeyboardEvent) => {
      if (e.defaultPrevented || e.isComposing || e.repeat && e.key === 'Escape' || document.querySelector('[role="dialog"][data-open]')) return
      if (opensPalette(e)) {
        e.preventDefault()
        now.current.palette()
        return
      }
      const act = now.current.acts[e.key]
      if (!act || e.ctrlKey || e.metaKey || e.altKey || isField(e.composedPath()[0] ?? null) || (e.key.length === 1 && !letters.on())) return
      e.preventDefault()
      act()
    }
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [])
}
