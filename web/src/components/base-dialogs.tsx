import { Dialog, DialogHeading } from '@ariakit/react'
import { useState, type ReactNode } from 'react'
import type { CatalogDescribed } from '../api/schema'
import { call } from '../lib/api'
import { useFailure } from '../lib/failures'
import { useText } from '../lib/i18n'
import { cancel } from '../lib/uploads'
import { Field } from './field'
import { Failure } from './notice'

/** What stays in reach while a dialog is open. */
const tray = () => document.querySelectorAll('#tray')

export function Modal({ title, open, close, wide, children }: { title: string; open: boolean; close: () => void; wide?: boolean; children: ReactNode }) {
  return (
    <Dialog open={open} onClose={close} className={wide ? 'dialog wide' : 'dialog'} getPersistentElements={tray} backdrop={<div className="backdrop" />}>
      <DialogHeading className="heading">{title}</DialogHeading>
      {children}
    </Dialog>
  )
}

export function DeleteBase({ base, close, done }: { base: CatalogDescribed; close: () => void; done: () => void }) {
  const t = useText()
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const failure = useFailure()
  const name = base.name || base.id
  const remove = async () => {
    setBusy(true)
    failure.clear()
    try {
      await call('DELETE', `/v1/knowledge-bases/${encodeURIComponent(base.id)}`)
      cancel((u) => u.kb === base.id)
      done()
    } catch (e) {
      failure.fail({ key: 'bases.delete.failed', values: { name } }, e as Error)
    }
    setBusy(false)
  }
  return (
    <Modal title={t('bases.delete.title', { name })} open close={close}>
      <p>{t('bases.delete.about', { documents: base.documents, chunks: base.chunks })}</p>
      {failure.error ? <Failure error={failure.error} /> : null}
      <form onSubmit={(e) => (e.preventDefault(), typed === base.id && !busy && void remove())}>
        <Field label={t('bases.delete.type', { id: base.id })}>
          {(id) => <input id={id} className="input" value={typed} autoComplete="off" spellCheck={false} autoFocus onChange={(e) => setTyped(e.target.value)} />}
        </Field>
        <p className="row end">
          <button type="button" className="button" onClick={close}>{t('app.cancel')}</button>
          <button type="submit" className="button primary danger" disabled={busy || typed !== base.id}>{t('bases.delete')}</button>
        </p>
      </form>
    </Modal>
  )
}
