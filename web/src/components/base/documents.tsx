import { useState } from 'react'
import type { CatalogDescribed, Documents as Page, EngineDocument } from '../../api/schema'
import { call } from '../../lib/api'
import { documentUrl } from '../../lib/documents'
import { useText } from '../../lib/i18n'
import { usePaged } from '../../lib/load'
import { useParams } from '../../lib/url'
import { Confirm } from '../confirm'
import { Failure, Notice, Skeleton } from '../notice'
import { DocumentTable, type Sort } from './document-table'

const pageSize = 50

/** A page of documents, and how many there are in all. */
interface Listed { document: EngineDocument; total: number }

function useDocuments(base: CatalogDescribed, turn: number, query: string, sort: Sort, descending: boolean) {
  const asked = new URLSearchParams({ limit: String(pageSize), sort, order: descending ? 'desc' : 'asc', ...(query ? { query } : {}) }).toString()
  const url = `/v1/knowledge-bases/${encodeURIComponent(base.id)}/documents?${asked}`
  return usePaged<Listed>(['documents of', url, turn], async (after, signal) => {
    const got = await call<Page>('GET', url + (after ? `&after=${encodeURIComponent(after)}` : ''), undefined, signal)
    return { items: (got.documents ?? []).map((document) => ({ document, total: got.total ?? 0 })), next: got.next }
  })
}

const sorts: Sort[] = ['name', 'chunks', 'size', 'written_at', 'without_vectors']

/** The documents of a knowledge base as a table: found by name, in any order, deleted many at a time. */
export function Documents({ base, turn, changed }: { base: CatalogDescribed; turn: number; changed: () => void }) {
  const t = useText()
  const [params, setParams] = useParams()
  const query = params.get('find') ?? ''
  const sort = sorts.find((s) => s === params.get('sort')) ?? 'name'
  const descending = params.get('order') === 'desc'
  const list = useDocuments(base, turn, query, sort, descending)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [said, setSaid] = useState('')
  const [error, setError] = useState<Error>()
  const shown = list.items ?? []
  const total = shown[0]?.total ?? 0
  const by = (next: Sort) => {
    const turned = next === sort ? !descending : next !== 'name' // the largest, the latest first
    setParams({ sort: next, order: turned ? 'desc' : null }, true)
  }
  const remove = async () => {
    const { done, failed } = await removeAll(base.id, [...chosen])
    setChosen(new Set([...chosen].filter((id) => !done.includes(id))))
    setSaid(done.length > 0 ? t('kb.documents.deleted', { count: done.length }) : '')
    setError(failed)
    changed()
  }
  return (
    <section className="part" aria-label={t('bases.documents')}>
      <form role="search" className="row" onSubmit={(e) => (e.preventDefault(), setParams({ find: String(new FormData(e.currentTarget).get('find')).trim() }, true))}>
        <input key={query} type="search" name="find" className="input kb-find" defaultValue={query} maxLength={400} aria-label={t('kb.documents.find')} placeholder={t('kb.documents.find')} />
        <button type="submit" className="button">{t('nav.search')}</button>
        <span className="quiet small" role="status">{list.items ? t('kb.documents.count', { shown: shown.length, count: total }) : ''}</span>
        {chosen.size > 0 ? (
          <span className="end">
            <Confirm label={t('kb.documents.delete', { count: chosen.size })} tone="danger" act={remove}
              about={t('kb.documents.delete.about', { count: chosen.size, name: base.name || base.id })} />
          </span>
        ) : null}
      </form>
      {said ? <Notice title={said} tone="good" /> : null}
      {error ? <Failure error={error} /> : null}
      {list.error ? <Failure error={list.error} again={list.again} /> : null}
      {!list.items && !list.error ? <Skeleton rows={2} /> : null}
      {list.items && shown.length === 0 ? <p className="blank">{t(query ? 'kb.documents.nothing' : 'bases.documents.none')}</p> : null}
      {shown.length > 0 ? (
        <DocumentTable base={base} documents={shown.map((s) => s.document)} sort={sort} descending={descending} by={by}
          chosen={chosen} choose={base.attach ? undefined : setChosen} />
      ) : null}
      {list.more ? <p className="row center"><button type="button" className="button" disabled={list.loading} onClick={list.more}>{t('bases.documents.more')}</button></p> : null}
    </section>
  )
}

/** Deletes documents one after the other; the first that cannot be deleted ends it. */
async function removeAll(kb: string, ids: string[]): Promise<{ done: string[]; failed?: Error }> {
  const done: string[] = []
  for (const id of ids) {
    try {
      await call('DELETE', documentUrl(kb, id))
    } catch (e) {
      if ((e as { status?: number }).status !== 404) return { done, failed: e as Error }
    }
    done.push(id)
  }
  return { done }
}
