import { useEffect, useMemo, useRef } from 'react'
import type { EngineChunk } from '../api/schema'
import { ApiError } from '../lib/api'
import { Chunk } from '../components/chunk'
import { DocumentAside } from '../components/document-aside'
import { Finder } from '../components/finder'
import { Link } from '../components/link'
import { Failure, Notice, Skeleton } from '../components/notice'
import { useChoices } from '../lib/bases'
import { headingsOf, sharedOf, textOf, useChunks, useMatches } from '../lib/documents'
import { documentName } from '../lib/format'
import { useText } from '../lib/i18n'
import { merged, useParams, usePlace, useQuery } from '../lib/url'
import { readState, requestOf } from './search-state'
import '../styles/document.css'

/** A whole document: its chunks in their order, one of them in its surroundings, and what of it answers the question. */
export default function DocumentPage() {
  const t = useText()
  const { kb = '', document: id = '' } = usePlace()
  const [params, setParams] = useParams()
  const state = readState(params)
  const chosen = params.get('chunk') ?? ''
  const chunks = useChunks(kb, id)
  const matches = useMatches(kb, id, state.q, { engine: state.engine || undefined, language: state.language || undefined })
  const sought = useSought(chosen, chunks)
  const name = chunks.items?.[0] ? documentName(chunks.items[0]) : id
  const back = `/${merged(useQuery(), { chunk: null })}`
  useEffect(() => {
    document.title = `${name} · Hybridge`
  }, [name])
  const shared = useMemo(() => sharedOf(chunks.items ?? none), [chunks.items])
  const choose = (chunk: string) => setParams({ chunk }, true)
  if (chunks.error && !chunks.items) return <Unread error={chunks.error} again={chunks.again} back={back} />
  return (
    <div className="page document">
      <h1>{name}</h1>
      <Finder key={state.q} question={state.q} matches={state.q.trim() ? matches.data : undefined} chosen={chosen} chunks={chunks.items ?? none} back={back}
        ask={(q) => setParams({ q, page: null }, true)} choose={choose} />
      {matches.error ? <Failure error={matches.error} again={matches.again} /> : null}
      {sought === 'gone' ? <Notice title={t('doc.chunk.unknown', { id: chosen })} /> : null}
      {!chunks.items ? <Skeleton rows={5} /> : (
        <div className="columns">
          <DocumentAside kb={kb} id={id} chunks={chunks.items} all={!chunks.more} shared={shared} chosen={chosen} choose={choose} />
          <Text kb={kb} chunks={chunks.items} shared={shared} matches={state.q.trim() ? matches.data : undefined} chosen={chosen} choose={choose} />
        </div>
      )}
      {chunks.error && chunks.items ? <Failure error={chunks.error} again={chunks.again} /> : null}
      {chunks.more ? <More load={chunks.more} loading={chunks.loading} /> : null}
    </div>
  )
}

const none: EngineChunk[] = []

/** Loads on until the chunk that the address names is there. */
function useSought(chosen: string, { items, more, loading, error }: ReturnType<typeof useChunks>): 'none' | 'loading' | 'found' | 'gone' {
  const found = useMemo(() => items?.some((c) => c.id === chosen), [items, chosen])
  useEffect(() => {
    if (chosen && items && !found && !loading && !error) more?.()
  }, [chosen, items, found, loading, error, more])
  if (!chosen) return 'none'
  if (found) return 'found'
  return items && !more && !loading ? 'gone' : 'loading'
}

/** There is no such document, or it could not be read. */
function Unread({ error, again, back }: { error: Error; again: () => void; back: string }) {
  const t = useText()
  if (!(error instanceof ApiError) || error.status !== 404) return <div className="page"><Failure error={error} again={again} /></div>
  return (
    <div className="page blank">
      <h1>{t('doc.unknown')}</h1>
      <p>{error.message.charAt(0).toUpperCase() + error.message.slice(1)}</p>
      <p className="row center">
        <Link to={back} className="button">{t('doc.back')}</Link>
        <Link to="/knowledge-bases" className="button">{t('nav.bases')}</Link>
      </p>
    </div>
  )
}

interface TextProps {
  kb: string
  chunks: EngineChunk[]
  shared: [name: string, value: string][]
  matches: ReturnType<typeof useMatches>['data']
  chosen: string
  choose: (chunk: string) => void
}

function Text({ kb, chunks, shared, matches, chosen, choose }: TextProps) {
  const t = useText()
  const [params] = useParams()
  const choices = useChoices()
  const request = choices.data ? requestOf(readState(params), choices.data) : null
  return (
    <section className="whole" aria-label={t('doc.text')}>
      {chunks.map((c, i) => {
        const match = matches?.byID.get(c.id)
        const before = i > 0 ? headingsOf(chunks[i - 1]!) : []
        return (
          <Chunk key={c.id} kb={kb} chunk={c} text={textOf(c, match)} match={match} shared={shared} chosen={c.id === chosen} choose={choose}
            heading={headingsOf(c).join('\n') === before.join('\n') ? null : headingsOf(c)} request={c.id === chosen ? request : null} asked={request !== null} />
        )
      })}
    </section>
  )
}

/** Loads the next chunks when one comes near to their beginning. */
function More({ load, loading }: { load: () => void; loading: boolean }) {
  const t = useText()
  const here = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    if (loading || !here.current) return undefined
    const seen = new IntersectionObserver(([entry]) => { if (entry?.isIntersecting) load() }, { rootMargin: '1200px' })
    seen.observe(here.current)
    return () => seen.disconnect()
  }, [load, loading])
  return (
    <p ref={here} className="row center">
      <button type="button" className="button" disabled={loading} onClick={load}>{loading ? t('app.loading') : t('bases.documents.more')}</button>
    </p>
  )
}
