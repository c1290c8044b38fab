import { Suspense, useEffect, useState } from 'react'
import { useKeys } from '../lib/keys'
import { later } from '../lib/later'
import { navigate } from '../lib/url'
import type { Entry } from './bar'

const Palette = later(() => import('./palette'))
const KeysHelp = later(() => import('./keys-help'))

/** What the keys do on every page. A page names its own buttons by data-key, and hits are what j and k move between. */
export function Keys({ pages }: { pages: Entry[] }) {
  const [open, setOpen] = useState<'palette' | 'help' | null>(null)
  useEffect(() => {
    const show = () => setOpen('palette')
    addEventListener('hybridge:palette', show)
    return () => removeEventListener('hybridge:palette', show)
  }, [])
  useKeys({
    '/': toField,
    '?': () => setOpen('help'),
    j: () => press('j') || toHit(1),
    k: () => press('k') || toHit(-1),
    Escape: () => press('Escape') || leaveHits(),
  }, () => setOpen('palette'))
  const close = () => setOpen(null)
  return (
    <Suspense fallback={null}>
      {open === 'palette' ? <Palette pages={pages} close={close} help={() => setOpen('help')} /> : null}
      {open === 'help' ? <KeysHelp close={close} /> : null}
    </Suspense>
  )
}

function press(key: string): boolean {
  const button = document.querySelector<HTMLElement>(`[data-key="${key}"]`)
  button?.click()
  return button !== null
}

/** The field of the page that takes a question; where there is none, that of the search. */
function toField() {
  const field = document.querySelector<HTMLInputElement>('main [role="search"] input[type="search"]')
  if (!field) return navigate('/')
  field.focus()
  field.select()
}

const hits = () => [...document.querySelectorAll<HTMLElement>('.hits .hit')]

export function toHit(by: number) {
  const all = hits()
  const at = all.findIndex((hit) => hit.contains(document.activeElement))
  const next = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))]
  next?.querySelector<HTMLElement>('h3 a')?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: 'nearest' })
}

function leaveHits() {
  if (hits().some((hit) => hit.contains(document.activeElement))) toField()
}
