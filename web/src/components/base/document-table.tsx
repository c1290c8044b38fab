import type { CatalogDescribed, EngineDocument } from '../../api/schema'
import { documentAt } from '../../lib/documents'
import { bytes, documentName } from '../../lib/format'
import { useText, type Key } from '../../lib/i18n'
import { Icon } from '../icons'
import { Link } from '../link'
import { When } from '../when'

export type Sort = 'name' | 'chunks' | 'size' | 'written_at' | 'without_vectors'

interface Props {
  base: CatalogDescribed
  documents: EngineDocument[]
  sort: Sort
  descending: boolean
  by: (sort: Sort) => void
  chosen: ReadonlySet<string>
  /** Left out where nothing can be deleted. */
  choose?: (chosen: ReadonlySet<string>) => void
}

const columns: [Sort, Key][] = [['name', 'bases.name'], ['chunks', 'bases.chunks'], ['size', 'bases.size'], ['written_at', 'kb.documents.written'], ['without_vectors', 'bases.state']]

export function DocumentTable({ base, documents, sort, descending, by, chosen, choose }: Props) {
  const t = useText()
  const all = documents.every((d) => chosen.has(d.document_id))
  const sized = documents.some((d) => d.bytes)
  const dated = documents.some((d) => d.written_at)
  const shown = columns.filter(([column]) => (column !== 'size' || sized) && (column !== 'written_at' || dated))
  const take = (ids: string[], take: boolean) => {
    const next = new Set(chosen)
    for (const id of ids) if (take) next.add(id); else next.delete(id)
    choose?.(next)
  }
  return (
    <div className="card scroll" tabIndex={0} role="region" aria-label={t('bases.documents.of', { name: base.name || base.id })}>
      <table className="grid-table kb-documents">
        <thead>
          <tr>
            {choose ? <th scope="col"><input type="checkbox" aria-label={t('kb.documents.all')} checked={all} onChange={(e) => take(documents.map((d) => d.document_id), e.target.checked)} /></th> : null}
            {shown.map(([column, name]) => (
              <th key={column} scope="col" className={column === 'chunks' || column === 'size' ? 'num' : undefined} aria-sort={column !== sort ? undefined : descending ? 'descending' : 'ascending'}>
                <button type="button" className="sorter" onClick={() => by(column)}>
                  {t(name)}{column === sort ? <Icon name={descending ? 'chevron' : 'up'} /> : null}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {documents.map((d) => {
            const name = documentName(d)
            return (
              <tr key={d.document_id}>
                {choose ? <td><input type="checkbox" aria-label={t('kb.documents.choose', { name })} checked={chosen.has(d.document_id)} onChange={(e) => take([d.document_id], e.target.checked)} /></td> : null}
                <th scope="row">
                  <Link to={documentAt(base.id, d.document_id)}>{name}</Link>
                  {name === d.document_id ? null : <span className="quiet mono kb-id">{d.document_id}</span>}
                </th>
                <td className="num">{d.chunks.toLocaleString()}</td>
                {sized ? <td className="num">{d.bytes ? bytes(d.bytes) : '–'}</td> : null}
                {dated ? <td className="set-by">{d.written_at ? <When at={d.written_at} /> : '–'}</td> : null}
                <td className="set-by">{stateOf(d, base, t)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** Whether the vectors of a document's chunks are there. */
function stateOf(d: EngineDocument, base: CatalogDescribed, t: ReturnType<typeof useText>) {
  if (base.dimensions === 0) return <span className="quiet">{t('bases.state.words')}</span>
  if (!d.without_vectors) return <span className="tag good">{t('bases.state.ready')}</span>
  return <span className="tag warn">{t('kb.documents.bare', { count: d.without_vectors })}</span>
}
