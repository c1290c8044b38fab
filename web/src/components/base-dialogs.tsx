import { Dialog, DialogHeading } from '@ariakit/react'
import { useState, type ReactNode } from 'react'
import type { CatalogDescribed } from '../api/schema'
import { call } from '../lib/api'
import { percent } from '../lib/format'
import { useText, type Key } from '../lib/i18n'
import { upload, type Upload } from '../lib/upload'
import { Field, Select } from './field'
import { Icon } from './icons'
import { Failure } from './notice'

export function Modal({ title, open, close, wide, children }: { title: string; open: boolean; close: () => void; wide?: boolean; children: ReactNode }) {
  return (
    <Dialog open={open} onClose={close} className={wide ? 'dialog wide' : 'dialog'} backdrop={<div className="backdrop" />}>
      <DialogHeading className="heading">{title}</DialogHeading>
      {children}
    </Dialog>
  )
}

const known = ['embedded', 'elasticsearch', 'postgres']

export function CreateBase({ open, close, engines, done }: { open: boolean; close: () => void; engines: string[]; done: (name: string) => void }) {
  const t = useText()
  const [engine, setEngine] = useState('')
  const [kind, setKind] = useState('chunks')
  const [error, setError] = useState<Error>()
  const submit = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? '').trim()
    const dimensions = text('dimensions')
    const spec = {
      id: text('id'),
      ...(text('name') ? { name: text('name') } : {}),
      ...(engine ? { engine } : {}),
      ...(dimensions === '' ? {} : { dimensions: Number(dimensions) }),
      kind,
    }
    try {
      await call('POST', '/v1/knowledge-bases', spec)
      setError(undefined)
      done(spec.name ?? spec.id)
    } catch (e) {
      setError(e as Error)
    }
  }
  return (
    <Modal title={t('bases.create.title')} open={open} close={close}>
      <form onSubmit={(e) => (e.preventDefault(), void submit(new FormData(e.currentTarget)))}>
        {error ? <Failure error={error} /> : null}
        <Field label={t('bases.id')} hint={t('bases.id.hint')}>
          {(id, hint) => <input id={id} name="id" className="input" required maxLength={128} autoComplete="off" spellCheck={false} aria-describedby={hint} autoFocus />}
        </Field>
        <Field label={t('bases.name')}>{(id) => <input id={id} name="name" className="input" maxLength={200} autoComplete="off" />}</Field>
        <Select label={t('bases.engine')} value={engine} choose={setEngine}
          options={[{ value: '', label: t('bases.engine.default') }, ...[...new Set([...known, ...engines])].map((e) => ({ value: e, label: e }))]} />
        <Select label={t('bases.kind')} value={kind} choose={setKind}
          options={[{ value: 'chunks', label: t('bases.kind.chunks') }, { value: 'qa', label: t('bases.kind.qa') }]} />
        <Field label={t('bases.dimensions')} hint={t('bases.dimensions.hint')}>
          {(id, hint) => <input id={id} name="dimensions" className="input" type="number" min="0" max="4096" inputMode="numeric" aria-describedby={hint} />}
        </Field>
        <p className="row end">
          <button type="button" className="button" onClick={close}>{t('app.cancel')}</button>
          <button type="submit" className="button primary">{t('bases.create')}</button>
        </p>
      </form>
    </Modal>
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

export function UploadTo({ base, close }: { base: CatalogDescribed; close: () => void }) {
  const t = useText()
  const [uploads, setUploads] = useState<Upload[]>([])
  const [over, setOver] = useState(false)
  const busy = uploads.some((u) => u.state !== 'done' && u.state !== 'failed')
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
        <input type="file" multiple disabled={busy} aria-label={t('bases.upload.choose')} onChange={(e) => void add([...(e.target.files ?? [])])} />
      </label>
      <p className="quiet small">{t('bases.upload.about')}</p>
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

function Progress({ upload: u }: { upload: Upload }) {
  const t = useText()
  const reasons: Record<string, Key> = { empty: 'bases.upload.empty', binary: 'bases.upload.binary', large: 'bases.upload.large' }
  const reason = u.problem ? reasons[u.problem] : undefined
  const said = {
    waiting: t('bases.upload.waiting'),
    sending: t('bases.upload.sending', { percent: percent(u.sent) }),
    writing: t('bases.upload.writing'),
    done: t('bases.upload.done', { count: u.written }),
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
      {u.problem ? <p className="bad-text small">{reason ? t(reason) : u.problem}</p> : null}
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
