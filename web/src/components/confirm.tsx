import { useState } from 'react'
import { useText } from '../lib/i18n'
import { Modal } from './base-dialogs'

interface Props {
  label: string
  name?: string // for those who hear the button alone
  about: string
  act: () => Promise<void>
  tone?: string
}

/** A button whose act is told before it happens. */
export function Confirm({ label, name, about, act, tone = '' }: Props) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const [busy, setBusy] = useState(false)
  const go = async () => {
    setBusy(true)
    await act()
    setBusy(false)
    setOpen(false)
  }
  return (
    <>
      <button type="button" className={`button ${tone}`} aria-label={name} onClick={() => setOpen(true)}>{label}</button>
      <Modal title={name ?? label} open={open} close={() => setOpen(false)}>
        <p>{about}</p>
        <p className="row end">
          <button type="button" className="button" onClick={() => setOpen(false)}>{t('app.cancel')}</button>
          <button type="button" className={`button primary ${tone}`} disabled={busy} onClick={() => void go()} autoFocus>{label}</button>
        </p>
      </Modal>
    </>
  )
}
