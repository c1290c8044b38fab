import { memo, useState } from 'react'
import { percent } from '../lib/format'
import { useText, type Translate } from '../lib/i18n'
import { cancel, clear, isActive, isFailed, isOver, retry, useCounts, useOrder, useUpload, type Upload } from '../lib/uploads'
import { Icon } from './icons'

/** The uploads, those at work first. */
export default function Uploads() {
  const t = useText()
  const counts = useCounts()
  const [open, setOpen] = useState(false)
  const active = counts.running + counts.waiting
  const all = active + counts.failed + counts.cancelled + counts.done
  if (all === 0) return null
  return (
    <section className="card tray" aria-label={t('uploads.title')}>
      <h2>
        <button type="button" className="tray-head" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name="upload" />
          <span className="row">
            {t('uploads.count', { done: counts.done, all })}
            {counts.failed > 0 ? <span className="tag bad">{t('uploads.failed', { count: counts.failed })}</span> : null}
            {counts.waiting > 0 ? <span className="tag">{t('uploads.waiting', { count: counts.waiting })}</span> : null}
          </span>
          <span className={open ? 'end turned' : 'end'}><Icon name="chevron" /></span>
        </button>
      </h2>
      {active > 0 ? <progress value={(all - active) / all} aria-label={t('uploads.title')} /> : null}
      <p className="visually-hidden" role="status">
        {active > 0 ? t('uploads.working') : t('uploads.ended', { done: counts.done, failed: counts.failed })}
      </p>
      {open ? <Open /> : null}
    </section>
  )
}

const atFirst = 50

function Open() {
  const t = useText()
  const counts = useCounts()
  const order = useOrder()
  const [most, setMost] = useState(atFirst)
  const active = counts.running + counts.waiting
  return (
    <>
      <p className="row">
        {active > 0 ? <button type="button" className="button compact" onClick={() => cancel(isActive)}>{t('uploads.cancel.all')}</button> : null}
        {counts.failed > 0 ? (
          <>
            <button type="button" className="button compact" onClick={() => retry(isFailed)}>{t('uploads.retry.all')}</button>
            <button type="button" className="button compact" onClick={() => clear(isFailed)}>{t('uploads.clear.failed')}</button>
          </>
        ) : null}
        {counts.done + counts.cancelled > 0 ? (
          <button type="button" className="button compact" onClick={() => clear(isOver)}>{t('uploads.clear')}</button>
        ) : null}
      </p>
      <ul className="uploads" tabIndex={0} aria-label={t('uploads.title')}>
        {order.slice(0, most).map((id) => <Row key={id} id={id} />)}
        {order.length > most ? (
          <li>
            <button type="button" className="button compact" onClick={() => setMost(most + 2 * atFirst)}>
              {t('uploads.more', { count: order.length - most })}
            </button>
          </li>
        ) : null}
      </ul>
    </>
  )
}

const tones: Partial<Record<Upload['state'], string>> = { done: 'good', failed: 'bad' }

function said(u: Upload, t: Translate): string {
  switch (u.state) {
    case 'waiting': return t('bases.upload.waiting')
    case 'sending': return t('bases.upload.sending', { percent: percent(u.sent) })
    case 'working':
      if (u.all === 0) return t('bases.upload.reading')
      return t(u.done < u.all ? 'bases.upload.chunks' : 'bases.upload.writing', { done: u.done, all: u.all })
    case 'done': return t(u.unchanged ? 'bases.upload.unchanged' : 'bases.upload.done', { count: u.done })
    case 'failed': return u.failed > 0 ? t('bases.upload.done', { count: u.done }) : t('bases.upload.failed')
    case 'cancelled': return t('bases.upload.cancelled')
  }
}

/** One file; it alone is drawn anew when it gets on. */
const Row = memo(function Row({ id }: { id: number }) {
  const t = useText()
  const u = useUpload(id)
  if (!u) return null
  return (
    <li>
      <div className="row">
        <span className="clip"><strong title={u.name}>{u.name}</strong> <span className="quiet small">{t('uploads.into', { name: u.base })}</span></span>
        <span className={`tag end ${u.failed > 0 ? '' : tones[u.state] ?? ''}`}>{said(u, t)}</span>
        {u.failed > 0 ? <span className="tag bad">{t('bases.upload.failures', { count: u.failed })}</span> : null}
        <Acts upload={u} />
      </div>
      {u.state === 'sending' || u.state === 'working' ? (
        <progress value={u.state === 'sending' ? u.sent : u.all > 0 ? u.done / u.all : undefined} aria-label={t('bases.upload.progress', { name: u.name })} />
      ) : null}
      {u.reason || u.detail ? (
        <p className="bad-text small">{u.reason ? t(u.reason) : null} {u.detail ? <span className="quiet">{u.detail}</span> : null}</p>
      ) : null}
      {u.failures.length > 0 ? (
        <ul className="failures small">
          {u.failures.map((f) => (
            <li key={f.line}><span className="quiet">{t('bases.upload.line', { line: f.line })}{f.id ? ` · ${f.id}` : ''}</span> {f.detail}</li>
          ))}
          {u.failed > u.failures.length ? <li className="quiet">{t('uploads.lines.more', { count: u.failed - u.failures.length })}</li> : null}
        </ul>
      ) : null}
    </li>
  )
})

function Acts({ upload: u }: { upload: Upload }) {
  const t = useText()
  const self = (other: Upload) => other.id === u.id
  const button = (name: string, icon: 'close' | 'again', act: () => void) => (
    <button type="button" className="tool" aria-label={name} title={name} onClick={act}><Icon name={icon} /></button>
  )
  if (isActive(u)) return button(t('uploads.cancel.of', { name: u.name }), 'close', () => cancel(self))
  return (
    <>
      {u.state === 'done' ? null : button(t('uploads.retry.of', { name: u.name }), 'again', () => retry(self))}
      {button(t('uploads.remove.of', { name: u.name }), 'close', () => clear(self))}
    </>
  )
}
