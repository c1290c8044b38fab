import { Hovercard, useHovercardStore } from '@ariakit/react'
import { useEffect } from 'react'
import terms from '../i18n/terms.json'
import { guideAt, useLanguage } from '../lib/i18n'

export type TermName = keyof typeof terms

export interface TermCardProps {
  name: TermName
  anchor: HTMLElement
  open: boolean
  setOpen: (open: boolean) => void
}

/** What a term means, and where the guide says more. */
export default function TermCard({ name, anchor, open, setOpen }: TermCardProps) {
  const { t, language } = useLanguage()
  const store = useHovercardStore({ open, setOpen, placement: 'top-start', hideTimeout: 200 })
  useEffect(() => {
    store.setAnchorElement(anchor)
    store.setDisclosureElement(anchor)
  }, [store, anchor])
  useEffect(() => {
    if (!open) return
    const close = (e: KeyboardEvent) => {
      if (e.key !== 'Escape') return
      e.preventDefault() // the card alone closes, and not the dialog that the term may be in
      if (e.target instanceof Element && e.target.closest('.term-card')) anchor.focus() // now: later it would ask anew
      setOpen(false)
    }
    window.addEventListener('keydown', close, true) // before the dialog hears of it
    return () => window.removeEventListener('keydown', close, true)
  }, [anchor, open, setOpen])
  const { text, guide } = terms[name][language]
  return (
    <Hovercard store={store} className="term-card" portal gutter={6} unmountOnHide aria-label={anchor.textContent ?? ''}
      onClick={(e) => e.stopPropagation()}>
      <p>{text}</p>
      <p><a href={guideAt(language) + guide} target="_blank" rel="noreferrer">{t('term.more')}</a></p>
    </Hovercard>
  )
}
