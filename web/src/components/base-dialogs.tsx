import { Dialog, DialogHeading } from '@ariakit/react'
import { useState, type ReactNode } from 'react'
import type { CatalogDescribed } from '../api/schema'
import { call } from '../lib/api'
import { useText } from '../lib/i18n'
import { Field } from './field'
import { Failure } from './notice'

export function Modal({ title, open, close, wide, children }: { title: string; open: boolean; close: () => void; wide?: boolean; children: ReactNode }) {
  return (
    <Dialog open={open} onClose={close} className={wide ? 'dialog wide' : 'dialog'} backdrop={<div className="backdrop" />}>
      <DialogHeading className="heading">{title}</DialogHeading>
      {children}
    </Dialog>
  )
}

export function DeleteBase({ base, close, done }: { base: CatalogDescribed; close: () => void; done: () => void }) {
  const t = useText()
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<Error>()
  const name = base.name || base.id
  const remove = async () => {
    try {
      await call('DELETE', `/v1/knowledge-bases/${encodeURIComponent(base.id)}`)
      done()
    } catch (e) {
      setError(e as Error)
    }
  }
  return (
    <Modal title={t('bases.delete.title', { name })} open close={close}>
      <p>{t('bases.delete.about', { documents: base.documents, chunks: base.chunks })}</p>
      {error ? <Failure error={error} /> : null}
      <form onSubmit={(e) => (e.preventDefault(), typed === base.id && void remove())}>
        <Field label={t('bases.delete.type', { id: base.id })}>
          {(id) => <input id={id} className="input" value={typed} autoComplete="off" spellCheck={false} autoFocus onChange={(e) => setTyped(e.target.value)} />}
        </Field>
        <p className="row end">
          <button type="button" className="button" onClick={close}>{t('app.cancel')}</button>
          <button type="submit" className="button primary danger" disabled={typed !== base.id}>{t('bases.delete')}</button>
        </p>
      </form>
    </Modal>
  )
}
