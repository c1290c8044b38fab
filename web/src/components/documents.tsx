import { useEffect, useState } from 'react'
import type { CatalogDescribed, DocumentChunks, Documents, EngineChunk, EngineDocument } from '../api/schema'
import { call } from '../lib/api'
import { documentAt } from '../lib/documents'
import { useFailure } from '../lib/failures'
import { useText } from '../lib/i18n'
import { readable } from '../lib/readable'
import { Modal } from './base-dialogs'
import { Confirm } from './confirm'
import { Link } from './link'
import { Failure, Skeleton } from './notice'

const pageSize = 50

/** Pages of a listing, put together as they are asked for. */
function usePages<T>(load: (after: string) => Promise<{ items: T[]; next?: string }>) {
  const [items, setItems] = useState<T[]>()
  const [next, setNext] = useState<string>()
  const [error, setError] = useState<Error>()
  const more = async (after = '') => {
    try {
      const page = await load(after)
      setItems((seen) => (after ? [...(seen ?? []), ...page.items] : page.items))
      setNext(page.next)
      setError(undefined)
    } catch (e) {
      setError(e as Error)
    }
  }
  useEffect(() => void more(), [])
  return { items, setItems, error, again: () => void more(next), more: next ? () => void more(next) : undefined }
}

const page = (after: string) => `?limit=${pageSize}${after ? `&after=${encodeURIComponent(after)}` : ''}`

/** The documents of a knowledge base, each with its chunks, and a way to delete one. */
export function DocumentsOf({ base, close }: { base: CatalogDescribed; close: () => void }) {
  const t = useText()
  const root = `/v1/knowledge-bases/${encodeURIComponent(base.id)}/documents`
  const list = usePages(async (after) => {
    const got = await call<Documents>('GET', root + page(after))
    return { items: got.documents ?? [], next: got.next }
  })
  const failure = useFailure()
  const remove = async (d: EngineDocument) => {
    failure.clear()
    try {
      await call('DELETE', `${root}/${encodeURIComponent(d.document_id)}`)
      list.setItems((all) => all?.filter((other) => other.document_id !== d.document_id))
    } catch (e) {
      failure.fail({ key: 'bases.delete.failed', values: { name: d.document_name || d.document_id } }, e as Error)
    }
  }
  return (
    <Modal title={t('bases.documents.of', { name: base.name || base.id })} open close={close} wide>
      {list.error ? <Failure error={list.error} again={list.again} /> : null}
      {failure.error ? <Failure error={failure.error} /> : null}
      {!list.items && !list.error ? <Skeleton rows={2} /> : null}
      {list.items?.length === 0 ? <p className="quiet">{t('bases.documents.none')}</p> : null}
      <ul className="documents">
        {list.items?.map((d) => (
          <Document key={d.document_id} document={d} kb={base.id} root={root} remove={base.attach ? undefined : () => remove(d)} />
        ))}
      </ul>
      <p className="row end">
        {list.more ? <button type="button" className="button" onClick={list.more}>{t('bases.documents.more')}</button> : null}
        <button type="button" className="button" onClick={close}>{t('app.close')}</button>
      </p>
    </Modal>
  )
}

function Document({ document: d, kb, root, remove }: { document: EngineDocument; kb: string; root: string; remove?: () => Promise<void> }) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const name = d.document_name || d.document_id
  return (
    <li>
      <details onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary><span className="name">{name}</span> <span className="tag">{t('bases.documents.chunks', { count: d.chunks })}</span></summary>
        {name === d.document_id ? null : <p className="quiet small mono">{d.document_id}</p>}
        <p className="small"><Link to={documentAt(kb, d.document_id)}>{t('doc.open')}</Link></p>
        {open ? <Chunks url={`${root}/${encodeURIComponent(d.document_id)}`} /> : null}
      </details>
      {remove ? (
        <Confirm label={t('bases.delete')} name={t('bases.delete.of', { name })} tone="danger compact"
          about={t('bases.documents.delete', { name, chunks: d.chunks })} act={remove} />
      ) : null}
    </li>
  )
}

function Chunks({ url }: { url: string }) {
  const t = useText()
  const list = usePages<EngineChunk>(async (after) => {
    const got = await call<DocumentChunks>('GET', url + page(after))
    return { items: got.chunks ?? [], next: got.next }
  })
  if (list.error) return <Failure error={list.error} again={list.again} />
  return (
    <>
      <ol className="chunks">
        {list.items?.map((c) => (
          <li key={c.id}>
            <p className="small"><strong>{c.title || c.question}</strong> <span className="quiet mono">{c.id}</span></p>
            <p className="text">{readable(c.content || c.answer || '')}</p>
          </li>
        ))}
      </ol>
      {list.more ? <button type="button" className="button compact" onClick={list.more}>{t('bases.documents.more')}</button> : null}
    </>
  )
}
