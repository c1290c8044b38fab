import { useEffect, useState } from 'react'
import type { CatalogDescribed, EngineKnowledgeBase, Readiness } from '../api/schema'
import { stateOf } from '../components/base/head'
import { baseAt } from '../components/base/tabs'
import { DeleteBase } from '../components/base-dialogs'
import { CreateBase } from '../components/create-base'
import { DocumentsOf } from '../components/documents'
import { legName } from '../components/legs'
import { Icon } from '../components/icons'
import { Link } from '../components/link'
import { Failure, Notice, Skeleton } from '../components/notice'
import { UploadTo } from '../components/upload-to'
import { call } from '../lib/api'
import { bytes } from '../lib/format'
import { useText, type Key } from '../lib/i18n'
import { enginesOf, useChoices } from '../lib/bases'
import { useLoad } from '../lib/load'
import { useWritten } from '../lib/uploads'
import { useParams } from '../lib/url'
import '../styles/bases.css'

type Open = { what: 'create' } | { what: 'upload' | 'delete'; base: CatalogDescribed } | null

const counted = (b: EngineKnowledgeBase, described?: CatalogDescribed | null): CatalogDescribed =>
  ({ documents: 0, chunks: 0, vectors: 0, bytes: 0, ...b, ...described })

/** Each described on its own, so that one engine that is away hides only its own. */
async function describeAll(ids: string[], signal: AbortSignal) {
  return Promise.all(
    ids.map((id) =>
      call<CatalogDescribed>('GET', `/v1/knowledge-bases/${encodeURIComponent(id)}`, undefined, signal).catch(() => null),
    ),
  )
}

export default function BasesPage() {
  const t = useText()
  const [params, setParams] = useParams()
  const choices = useChoices()
  const bases = choices.data?.bases ?? []
  const written = useWritten()
  const described = useLoad(choices.data ? ['described', written, ...bases.map((b) => b.id)] : null, (signal) => describeAll(bases.map((b) => b.id), signal))
  const ready = useLoad(['ready', written], (signal) => call<Readiness>('GET', '/readyz', undefined, signal))
  const [open, setOpen] = useState<Open>(null)
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (params.get('create')) setOpen({ what: 'create' })
  }, [params.get('create')])
  const listed = bases.find((b) => b.id === params.get('documents'))
  const close = () => {
    setOpen(null)
    setParams({ create: null, documents: null }, true)
  }
  const changed = (message: string) => {
    setSaid(message)
    choices.again()
    described.again()
  }
  /** The dialog that asked may be closed, and another open. */
  const deleted = (base: CatalogDescribed) => {
    setOpen((now) => (now?.what === 'delete' && now.base.id === base.id ? null : now))
    changed(t('bases.deleted', { name: base.name || base.id }))
  }
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('bases.title')}</h1>
        <button type="button" className="button primary end" onClick={() => setOpen({ what: 'create' })}>
          <Icon name="plus" />
          {t('bases.create')}
        </button>
        <p>{t('bases.about')}</p>
      </div>
      {ready.data?.warnings?.map((w) => <Notice key={w.code} title={w.detail} />)}
      {said ? <Notice title={said} tone="good" /> : null}
      {choices.error ? <Failure error={choices.error} again={choices.again} /> : null}
      {choices.loading && !choices.data ? <Skeleton rows={3} /> : null}
      {choices.data && bases.length === 0 ? (
        <div className="blank">
          <h2>{t('bases.none')}</h2>
          <p>{t('bases.none.about')}</p>
        </div>
      ) : null}
      {bases.length > 0 ? (
        <ul className="bases">
          {bases.map((b, i) => (
            <Base key={b.id} base={counted(b, described.data?.[i])}
              away={described.data !== undefined && described.data.length === bases.length && !described.data[i]} open={setOpen}
              list={() => setParams({ documents: b.id })} />
          ))}
        </ul>
      ) : null}
      <CreateBase open={open?.what === 'create'} close={close} engines={choices.data?.engines ?? []}
        done={(name) => (close(), changed(t('bases.created', { name })))} />
      {listed ? <DocumentsOf base={counted(listed)} close={() => (close(), described.again())} /> : null}
      {open?.what === 'upload' ? <UploadTo base={open.base} close={close} /> : null}
      {open?.what === 'delete' ? (
        <DeleteBase base={open.base} close={close} done={() => deleted(open.base)} />
      ) : null}
    </div>
  )
}

function Base({ base, away, open, list }: { base: CatalogDescribed; away: boolean; open: (o: Open) => void; list: () => void }) {
  const t = useText()
  const name = base.name || base.id
  const [state, tone] = stateOf(base, away)
  const facts: [Key, string][] = [
    ['bases.documents', base.documents.toLocaleString()],
    ['bases.chunks', base.chunks.toLocaleString()],
    ['bases.vectors', base.vectors.toLocaleString()],
    ['bases.size', bytes(base.bytes)],
  ]
  return (
    <li className="card base">
      <div className="base-head">
        <h2>
          <Link to={baseAt(base.id)}>{name}</Link>
        </h2>
        <span className={`tag ${tone}`}>{t(state)}</span>
        <p className="quiet small"><span className="mono">{base.id}</span> · {enginesOf(base).join(' + ')} · {base.kind}</p>
      </div>
      <dl className="figures">
        {facts.map(([label, value]) => (
          <div key={label}><dt>{t(label)}</dt><dd>{value}</dd></div>
        ))}
      </dl>
      <details>
        <summary aria-label={t('bases.details.of', { name })}>{t('bases.details')}</summary>
        <dl className="facts">
          <div><dt>{t('bases.model')}</dt><dd>{base.embedding_model || '–'}</dd></div>
          <div><dt>{t('bases.dimensions')}</dt><dd>{base.dimensions}</dd></div>
          {base.vector_fields?.map((v) => (
            <div key={v.name}><dt>{legName(v.name, t)}</dt><dd><span className="mono">{v.name}</span>, {t(`bases.source.${v.source ?? 'brought'}` as Key)}</dd></div>
          ))}
          <div><dt>{t('bases.analyzer')}</dt><dd>{base.analyzer}</dd></div>
          {base.vector_index ? <div><dt>{t('map.vector_index')}</dt><dd>{base.vector_index}</dd></div> : null}
          {base.bm25 ? <div><dt>{t('bases.bm25')}</dt><dd>{base.bm25}</dd></div> : null}
          {Object.entries(base.details ?? {}).map(([key, value]) => (
            <div key={key}><dt>{key}</dt><dd className="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</dd></div>
          ))}
        </dl>
      </details>
      <div className="row actions">
        <Link to={`/?kb=${encodeURIComponent(base.id)}`} className="button compact" aria-label={t('bases.search', { name })}>{t('nav.search')}</Link>
        <button type="button" className="button compact" aria-label={t('bases.documents.of', { name })} onClick={list}>
          {t('bases.documents')}
        </button>
        <button type="button" className="button compact" disabled={Boolean(base.attach)} aria-label={t('bases.upload.to', { name })} onClick={() => open({ what: 'upload', base })}>
          <Icon name="upload" />
          {t('bases.upload')}
        </button>
        <button type="button" className="button compact danger" aria-label={t('bases.delete.of', { name })} onClick={() => open({ what: 'delete', base })}>
          <Icon name="trash" />
          {t('bases.delete')}
        </button>
      </div>
    </li>
  )
}
