import { Dialog, DialogHeading } from '@ariakit/react'
import { useState } from 'react'
import type { EngineChunk, SearchHit, SearchRequest } from '../api/schema'
import { documentAt, headingsOf, textOf, useChunks, useDocumentsNamed } from '../lib/documents'
import { documentName } from '../lib/format'
import { useText } from '../lib/i18n'
import { readable } from '../lib/readable'
import { useQuery } from '../lib/url'
import { Explanation } from './explanation'
import { Link } from './link'
import { Failure } from './notice'
import { Picks } from './picks'

/** Why a chunk that one misses is not in the answer: its document is picked, then the chunk. */
export default function WhyNot({ request, close }: { request: SearchRequest; close: () => void }) {
  const t = useText()
  const [document, setDocument] = useState<SearchHit | null>(null)
  const [chunk, setChunk] = useState<EngineChunk | null>(null)
  const search = useQuery()
  return (
    <Dialog open onClose={close} className="dialog wide" backdrop={<div className="backdrop" />}>
      <DialogHeading className="heading">{t('whynot.title')}</DialogHeading>
      <p className="quiet">{t('whynot.about', { q: request.query ?? '' })}</p>
      {document ? (
        <p className="row">
          <button type="button" className="chip on" onClick={() => (setDocument(null), setChunk(null))}>{documentName(document)}</button>
          {chunk ? <button type="button" className="chip on" onClick={() => setChunk(null)}>{named(chunk, t('hit.chunk', { ordinal: chunk.ordinal + 1 }))}</button> : null}
        </p>
      ) : <PickDocument bases={request.knowledge_bases ?? []} pick={setDocument} />}
      {document && !chunk ? <PickChunk of={document} pick={setChunk} /> : null}
      {document && chunk ? (
        <>
          <p className="excerpt">{readable(textOf(chunk, undefined)).slice(0, 240)}</p>
          <div className="explanation"><Explanation request={request} kb={document.knowledge_base} chunk={chunk.id} label={chunk.id} /></div>
        </>
      ) : null}
      <p className="row end">
        {document && chunk ? <Link className="button" to={documentAt(document.knowledge_base, document.document_id, search, { chunk: chunk.id })}>{t('hit.open')}</Link> : null}
        <button type="button" className="button" onClick={close}>{t('app.close')}</button>
      </p>
    </Dialog>
  )
}

const named = (chunk: EngineChunk, otherwise: string) => headingsOf(chunk).at(-1) ?? otherwise

function PickDocument({ bases, pick }: { bases: string[]; pick: (document: SearchHit) => void }) {
  const t = useText()
  const [typed, setTyped] = useState('')
  const found = useDocumentsNamed(typed, bases)
  if (found.error) return <Failure error={found.error} again={found.again} />
  return (
    <Picks label={t('whynot.document')} typed={typed} type={setTyped} loading={found.loading}
      groups={[{ label: '', picks: (found.data ?? []).map((d) => ({
        key: `${d.knowledge_base}/${d.document_id}`, text: documentName(d), note: bases.length > 1 ? d.knowledge_base : undefined, act: () => pick(d),
      })) }]} />
  )
}

/** How many chunks are offered at once. */
const offered = 50

function PickChunk({ of, pick }: { of: SearchHit; pick: (chunk: EngineChunk) => void }) {
  const t = useText()
  const [typed, setTyped] = useState('')
  const { items, error, again, more, loading } = useChunks(of.knowledge_base, of.document_id)
  if (error) return <Failure error={error} again={again} />
  const sought = typed.trim().toLowerCase()
  const has = (c: EngineChunk) => `${c.id} ${headingsOf(c).join(' ')} ${textOf(c, undefined)}`.toLowerCase().includes(sought)
  const picks = (items ?? []).filter((c) => !sought || has(c)).slice(0, offered).map((c) => ({
    key: c.id, text: named(c, readable(textOf(c, undefined)).slice(0, 80)), note: t('hit.chunk', { ordinal: c.ordinal + 1 }), act: () => pick(c),
  }))
  return (
    <>
      <Picks label={t('whynot.chunk')} typed={typed} type={setTyped} loading={loading} groups={[{ label: '', picks }]} />
      {more ? <p><button type="button" className="button compact" disabled={loading} onClick={more}>{t('whynot.more')}</button></p> : null}
    </>
  )
}
