import { useEffect, useState } from 'react'
import { useText } from '../lib/i18n'
import { guardLeaving } from '../lib/url'
import { Modal } from './base-dialogs'

/**
 * Asks before a page is left, by a link, the browser's buttons or its tab.
 * A page draws it while it holds what is not saved; save tells whether it was.
 */
export function Unsaved({ save }: { save: () => Promise<boolean> }) {
  const t = useText()
  const [asked, setAsked] = useState<{ go: () => void }>()
  const [busy, setBusy] = useState(false)
  useEffect(() => guardLeaving((go) => setAsked({ go })), [])
  const stay = () => setAsked(undefined)
  const discard = () => {
    stay()
    asked?.go()
  }
  const saveAndGo = async () => {
    setBusy(true)
    const saved = await save()
    setBusy(false)
    stay()
    if (saved) asked?.go()
  }
  return (
    <Modal title={t('unsaved.title')} open={asked !== undefined} close={stay}>
      <p>{t('unsaved.about')}</p>
      <p className="row end">
        <button type="button" className="button danger" disabled={busy} onClick={discard}>{t('unsaved.discard')}</button>
        <button type="button" className="button" disabled={busy} onClick={stay}>{t('unsaved.stay')}</button>
        <button type="button" className="button primary" disabled={busy} onClick={() => void saveAndGo()} autoFocus>{t('unsaved.save')}</button>
      </p>
    </Modal>
  )
}
