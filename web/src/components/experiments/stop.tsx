import { useState } from 'react'
import { useText } from '../../lib/i18n'
import { Modal } from '../base-dialogs'
import { Field } from '../field'

/** Ends an experiment before its time, for a reason. */
export function Stop({ stop }: { stop: (reason: string) => Promise<void> }) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const [reason, setReason] = useState('')
  const [busy, setBusy] = useState(false)
  const go = async () => {
    setBusy(true)
    await stop(reason)
    setBusy(false)
    setOpen(false)
  }
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>{t('exp.stop')}</button>
      <Modal title={t('exp.stop')} open={open} close={() => setOpen(false)}>
        <form onSubmit={(e) => (e.preventDefault(), void go())}>
          <p>{t('exp.stop.about')}</p>
          <Field label={t('exp.stop.reason')}>
            {(id) => <input id={id} className="input" value={reason} maxLength={300} autoComplete="off" onChange={(e) => setReason(e.target.value)} />}
          </Field>
          <p className="row end">
            <button type="button" className="button" onClick={() => setOpen(false)}>{t('app.cancel')}</button>
            <button type="submit" className="button primary" disabled={busy}>{t('exp.stop')}</button>
          </p>
        </form>
      </Modal>
    </>
  )
}
