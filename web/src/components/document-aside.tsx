import { useMemo } from 'react'
import type { EngineChunk } from '../api/schema'
import { headingsOf, sourceOf } from '../lib/documents'
import { useText } from '../lib/i18n'
import { Link } from './link'

interface Props {
  kb: string
  id: string
  chunks: EngineChunk[]
  /** Whether these are all of its chunks. */
  all: boolean
  shared: [name: string, value: string][]
  chosen: string
  choose: (chunk: string) => void
}

/** The headings of a document, and what is the same of all its chunks. */
export function DocumentAside({ kb, id, chunks, all, shared, chosen, choose }: Props) {
  const t = useText()
  const outline = useMemo(() => outlineOf(chunks), [chunks])
  const source = chunks[0] && chunks.every((c) => sourceOf(c) === sourceOf(chunks[0]!)) ? sourceOf(chunks[0]) : null
  const at = chunks.findIndex((c) => c.id === chosen)
  const current = at < 0 ? -1 : outline.findLastIndex((h) => h.at <= at)
  return (
    <aside className="about" aria-label={t('doc.about')}>
      <dl className="facts">
        <div><dt>{t('doc.base')}</dt><dd><Link to={`/?kb=${encodeURIComponent(kb)}`}>{kb}</Link></dd></div>
        <div><dt>{t('doc.id')}</dt><dd className="mono">{id}</dd></div>
        <div><dt>{t('bases.chunks')}</dt><dd>{chunks.length}{all ? '' : '+'}</dd></div>
        {source ? <div><dt>{t('doc.source')}</dt><dd><a href={source} target="_blank" rel="noreferrer noopener">{source}</a></dd></div> : null}
        {shared.map(([name, value]) => <div key={name}><dt>{name}</dt><dd className="mono">{value}</dd></div>)}
      </dl>
      {outline.length > 1 ? (
        <details className="outline" open={matchMedia('(min-width: 900px)').matches}>
          <summary className="label">{t('doc.outline')}</summary>
          <nav aria-label={t('doc.outline')}>
            <ul>
              {outline.map((h, i) => (
                <li key={h.chunk} className={`depth-${h.depth}`}>
                  <button type="button" className="linkish" aria-current={i === current ? 'location' : undefined} onClick={() => choose(h.chunk)}>{h.heading}</button>
                </li>
              ))}
            </ul>
          </nav>
        </details>
      ) : null}
    </aside>
  )
}

interface Headed {
  heading: string
  depth: number // 0 to 3
  chunk: string
  at: number // of the chunk in the list
}

/** One entry for each heading, at the first chunk under it. */
function outlineOf(chunks: EngineChunk[]): Headed[] {
  const out: Headed[] = []
  let before = ''
  chunks.forEach((c, at) => {
    const path = headingsOf(c)
    if (path.length > 0 && path.join('\n') !== before) out.push({ heading: path.at(-1)!, depth: Math.min(3, path.length - 1), chunk: c.id, at })
    before = path.join('\n')
  })
  return out
}
