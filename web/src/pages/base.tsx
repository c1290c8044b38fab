import { useEffect, useState } from 'react'
import type { CatalogDescribed } from '../api/schema'
import { Documents } from '../components/base/documents'
import { Export } from '../components/base/export'
import { Head, stateOf } from '../components/base/head'
import { Health } from '../components/base/health'
import { Jobs } from '../components/base/jobs'
import { Tabs, views } from '../components/base/tabs'
import { DeleteBase } from '../components/base-dialogs'
import { Icon } from '../components/icons'
import { Link } from '../components/link'
import { Failure, Skeleton } from '../components/notice'
import { UploadTo } from '../components/upload-to'
import { ApiError, call } from '../lib/api'
import { useText } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { useWritten } from '../lib/uploads'
import { navigate, useParams, usePlace } from '../lib/url'
import '../styles/bases.css'
import '../styles/evaluate.css'
import '../styles/mappings.css'
import '../styles/playground.css'
import '../styles/base-page.css'

/** A knowledge base: what it holds, what is done with it, whether it is sound. */
export default function BasePage() {
  const t = useText()
  const { kb = '' } = usePlace()
  const [params] = useParams()
  const written = useWritten()
  const [turn, setTurn] = useState(0)
  const described = useLoad(['described', kb, written, turn], (signal) => call<CatalogDescribed>('GET', `/v1/knowledge-bases/${encodeURIComponent(kb)}`, undefined, signal))
  const [open, setOpen] = useState<'upload' | 'delete' | null>(null)
  const base = described.data
  const name = base?.name || kb
  useEffect(() => {
    document.title = `${name} · Hybridge`
  }, [name])
  const changed = () => setTurn((n) => n + 1)
  const view = views.find((v) => v === params.get('view')) ?? 'documents'
  if (described.error instanceof ApiError && described.error.status === 404) return <Unknown detail={described.error.message} />
  const [state, tone] = base ? stateOf(base, false) : ['app.loading' as const, '']
  return (
    <div className="page">
      <div className="page-head kb-head">
        <h1>{name}</h1>
        <span className={`tag ${tone}`}>{t(state)}</span>
        {name === kb ? null : <span className="quiet mono">{kb}</span>}
        <span className="row end">
          <Link to={`/?kb=${encodeURIComponent(kb)}`} className="button"><Icon name="search" />{t('nav.search')}</Link>
          <button type="button" className="button" disabled={!base || Boolean(base.attach)} onClick={() => setOpen('upload')}><Icon name="upload" />{t('bases.upload')}</button>
          <button type="button" className="button danger" disabled={!base} aria-label={t('bases.delete.of', { name })} onClick={() => setOpen('delete')}><Icon name="trash" />{t('bases.delete')}</button>
        </span>
      </div>
      {described.error ? <Failure error={described.error} again={described.again} /> : null}
      {!base && !described.error ? <Skeleton rows={3} /> : null}
      {base ? (
        <>
          <Head base={base} turn={turn + written} />
          <Tabs id={kb} at={view} />
          {view === 'documents' ? <Documents base={base} turn={turn + written} changed={changed} /> : null}
          {view === 'jobs' ? <Jobs base={base} changed={changed} /> : null}
          {view === 'health' ? <Health base={base} changed={changed} /> : null}
          {view === 'export' ? <Export base={base} /> : null}
        </>
      ) : null}
      {open === 'upload' && base ? <UploadTo base={base} close={() => (setOpen(null), changed())} /> : null}
      {open === 'delete' && base ? <DeleteBase base={base} close={() => setOpen(null)} done={() => navigate('/knowledge-bases')} /> : null}
    </div>
  )
}

function Unknown({ detail }: { detail: string }) {
  const t = useText()
  return (
    <div className="page blank">
      <h1>{t('kb.unknown')}</h1>
      <p>{detail.charAt(0).toUpperCase() + detail.slice(1)}</p>
      <p><Link to="/knowledge-bases" className="button">{t('nav.bases')}</Link></p>
    </div>
  )
}
