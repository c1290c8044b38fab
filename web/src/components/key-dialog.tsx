import { Dialog, DialogHeading } from '@ariakit/react'
import { key } from '../lib/api'
import { useText } from '../lib/i18n'

/** Asks for the API key of this tab. */
export default function KeyDialog({ close }: { close: () => void }) {
  const t = useText()
  return (
    <Dialog open onClose={close} className="dialog" backdrop={<div className="backdrop" />}>
      <DialogHeading className="heading">{t('app.key')}</DialogHeading>
      <p className="quiet">{t('app.key.about')}</p>
      <form
        onSubmit={(e) => {
          e.preventDefault()
          key.set(String(new FormData(e.currentTarget).get('key') ?? '').trim())
          close()
        }}
      >
        <input className="input wide" name="key" type="password" autoComplete="off" aria-label={t('app.key')} autoFocus />
        <p className="row end">
          <button type="button" className="button" onClick={() => (key.set(''), close())}>
            {t('app.key.clear')}
          </button>
          <button type="submit" className="button primary">
            {t('app.key.save')}
          </button>
        </p>
      </form>
    </Dialog>
  )
}
