import { Dialog, DialogHeading } from '@ariakit/react'
import { useState } from 'react'
import { useText, type Key } from '../lib/i18n'
import { letters, paletteKey } from '../lib/keys'

const keys: [string[], Key][] = [
  [['/'], 'keys.field'],
  [['j', 'k'], 'keys.move'],
  [['Enter'], 'keys.open'],
  [['Esc'], 'keys.back'],
  [[paletteKey], 'keys.palette'],
  [['?'], 'keys.help'],
]

export default function KeysHelp({ close }: { close: () => void }) {
  const t = useText()
  const [on, setOn] = useState(letters.on)
  return (
    <Dialog open onClose={close} className="dialog" backdrop={<div className="backdrop" />}>
      <DialogHeading className="heading">{t('keys.title')}</DialogHeading>
      <dl className="keys">
        {keys.map(([names, about]) => (
          <div key={about}><dt>{names.map((name) => <kbd key={name}>{name}</kbd>)}</dt><dd>{t(about)}</dd></div>
        ))}
      </dl>
      <label className="check">
        <input type="checkbox" checked={on} onChange={(e) => (letters.set(e.target.checked), setOn(e.target.checked))} />
        {t('keys.letters')}
      </label>
      <p className="row end"><button type="button" className="button" onClick={close}>{t('app.close')}</button></p>
    </Dialog>
  )
}
