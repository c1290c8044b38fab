import { useState } from 'react'
import { bytes, ms } from '../../lib/format'
import { useText } from '../../lib/i18n'
import { Copy } from '../code'
import { Editor } from '../editor'
import { mostShown, shownOf } from './requests'

/** An answer of the gateway: its JSON, and how long it took to come, in milliseconds. */
export interface Answered {
  text: string
  status: number
  took: number
}

const shallow = 2 // objects and lists that are shown at first; each hit is one line

/** An answer, folded at first: what is within a hit is a press away. */
export function Answer({ answered, busy }: { answered: Answered; busy: boolean }) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const { text, status, took } = answered
  return (
    <section className="part" aria-label={t('play.answer')} aria-busy={busy}>
      <div className="row between">
        <p className="row" role="status">
          <span className="tag good">{status}</span>
          <span className="quiet">{t('play.took', { ms: ms(took) })} · {bytes(new Blob([text]).size)}</span>
        </p>
        <p className="row">
          <button type="button" className="button compact" onClick={() => setOpen(!open)}>{t(open ? 'play.fold' : 'play.unfold')}</button>
          <Copy label={t('play.copy')} text={() => text} />
        </p>
      </div>
      {text.length > mostShown ? <p className="quiet">{t('play.cut', { bytes: bytes(mostShown) })}</p> : null}
      <Editor label={t('play.answer')} name={t('play.answer')} language="json" value={shownOf(text)} depth={open ? undefined : shallow} />
    </section>
  )
}
