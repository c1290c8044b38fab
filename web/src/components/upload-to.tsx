import { useState } from 'react'
import type { CatalogDescribed } from '../api/schema'
import { percent } from '../lib/format'
import { useText } from '../lib/i18n'
import { accepted, linesOnly, upload, type Upload } from '../lib/upload'
import { Modal } from './base-dialogs'
import { Icon } from './icons'

export function UploadTo({ base, close }: { base: CatalogDescribed; close: () => void }) {
  const t = useText()
  const [uploads, setUploads] = useState<Upload[]>([])
  const [over, setOver] = useState(false)
  const busy = uploads.some((u) => u.state !== 'done' && u.state !== 'failed')
  const pairs = base.kind === 'qa'
  /** One file after the other: the gateway embeds one at a time anyway. */
  const add = async (files: File[]) => {
    const begin = uploads.length
    setUploads((all) => [...all, ...files.map((file): Upload => ({ file, state: 'waiting', sent: 0, written: 0, failures: [] }))])
    for (const [i, file] of files.entries()) {
      await upload(base.id, file, (part) => setUploads((all) => all.map((u, at) => (at === begin + i ? { ...u, ...part } : u))))
    }
  }
  return (
    <Modal title={t('bases.upload.title', { name: base.name || base.id })} open close={close} wide>
      <label
        className={over ? 'drop over' : 'drop'}
        onDragOver={(e) => (e.preventDefault(), setOver(true))}
        onDragLeave={() => setOver(false)}
        onDrop={(e) => {
          e.preventDefault()
          setOver(false)
          if (!busy) void add([...e.dataTransfer.files])
        }}
      >
        <Icon name="upload" />
        <span>{t('bases.upload.drop')}</span>
        <input type="file" multiple disabled={busy} accept={pairs ? linesOnly : accepted} aria-label={t('bases.upload.choose')}
          onChange={(e) => void add(taken(e.target))} />
      </label>
      <p className="quiet small">{t(pairs ? 'bases.upload.about.qa' : 'bases.upload.about')}</p>
      <ul className="uploads" aria-live="polite">
        {uploads.map((u, i) => (
          <Progress key={i} upload={u} />
        ))}
      </ul>
      <p className="row end">
        <button type="button" className="button" disabled={busy} onClick={close}>{t('app.close')}</button>
      </p>
    </Modal>
  )
}

/** The chosen files; the same may be chosen again, mended. */
function taken(input: HTMLInputElement): File[] {
  const files = [...(input.files ?? [])]
  input.value = ''
  return files
}

function Progress({ upload: u }: { upload: Upload }) {
  const t = useText()
  const said = {
    waiting: t('bases.upload.waiting'),
    sending: t('bases.upload.sending', { percent: percent(u.sent) }),
    writing: t('bases.upload.writing'),
    done: u.unchanged ? t('bases.upload.unchanged', { count: u.written }) : t('bases.upload.done', { count: u.written }),
    failed: t('bases.upload.failed'),
  }[u.state]
  return (
    <li>
      <div className="row">
        <strong className="clip">{u.file.name}</strong>
        <span className={`tag end ${u.state === 'done' ? 'good' : u.state === 'failed' ? 'bad' : ''}`}>{said}</span>
        {u.failures.length > 0 ? <span className="tag bad">{t('bases.upload.failures', { count: u.failures.length })}</span> : null}
      </div>
      {u.state === 'sending' || u.state === 'writing' ? (
        <progress value={u.state === 'sending' ? u.sent : undefined} aria-label={t('bases.upload.progress', { name: u.file.name })} />
      ) : null}
      {u.reason || u.detail ? (
        <p className="bad-text small">{u.reason ? t(u.reason) : null} {u.detail ? <span className="quiet">{u.detail}</span> : null}</p>
      ) : null}
      {u.failures.length > 0 ? (
        <ul className="failures small">
          {u.failures.slice(0, 50).map((f) => (
            <li key={f.line}><span className="quiet">{t('bases.upload.line', { line: f.line })}{f.id ? ` · ${f.id}` : ''}</span> {f.detail}</li>
          ))}
        </ul>
      ) : null}
    </li>
  )
}
