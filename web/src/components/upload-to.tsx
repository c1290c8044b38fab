import { useState } from 'react'
import type { CatalogDescribed } from '../api/schema'
import { api } from '../lib/api'
import { dropped, type Drop } from '../lib/dropped'
import { useText } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { ofLines } from '../lib/upload'
import { enqueue } from '../lib/uploads'
import { Modal } from './base-dialogs'
import { Icon } from './icons'
import { Failure } from './notice'

/** Where files are dropped; the queue does the rest, whatever becomes of this dialog. */
export function UploadTo({ base, close }: { base: CatalogDescribed; close: () => void }) {
  const t = useText()
  const [over, setOver] = useState(false)
  const [taken, setTaken] = useState({ queued: 0, passed: 0 })
  const [error, setError] = useState<Error>()
  const name = base.name || base.id
  const pairs = base.kind === 'qa'
  const known = useLoad(pairs ? null : ['file formats'], api.fileFormats)
  const formats = pairs ? [] : known.data?.formats.map((f) => f.extension)
  const takes = formats ? [...formats, ...ofLines] : [''] // until they are known, everything
  const add = ({ files, passed }: Drop) => {
    enqueue({ id: base.id, name }, files)
    setTaken((before) => ({ queued: before.queued + files.length, passed: before.passed + passed }))
    setError(undefined)
  }
  return (
    <Modal title={t('bases.upload.title', { name })} open close={close} wide>
      {error ?? known.error ? <Failure error={(error ?? known.error)!} /> : null}
      <label
        className={over ? 'drop over' : 'drop'}
        onDragOver={(e) => (e.preventDefault(), setOver(true))}
        onDragLeave={() => setOver(false)}
        onDrop={(e) => {
          e.preventDefault()
          setOver(false)
          dropped(e.dataTransfer, takes).then(add, setError)
        }}
      >
        <Icon name="upload" />
        <span>{t('bases.upload.drop')}</span>
        <input type="file" multiple accept={takes.join(',')} aria-label={t('bases.upload.choose')} onChange={(e) => add(chosen(e.target))} />
      </label>
      <p className="quiet small">{t(pairs ? 'bases.upload.about.qa' : 'bases.upload.about')}</p>
      <p role="status">
        {taken.queued > 0 ? t('bases.upload.queued', { count: taken.queued }) : null}{' '}
        {taken.passed > 0 ? t('bases.upload.passed', { count: taken.passed }) : null}
      </p>
      <p className="row end">
        <button type="button" className="button" onClick={close}>{t('app.close')}</button>
      </p>
    </Modal>
  )
}

/** The chosen files; the same may be chosen again, mended. */
function chosen(input: HTMLInputElement): Drop {
  const files = [...(input.files ?? [])].map((file) => ({ file, name: file.name }))
  input.value = ''
  return { files, passed: 0 }
}
