import { memo, useEffect, useMemo, useRef } from 'react'
import type { EngineChunk, SearchHit, SearchRequest } from '../api/schema'
import { sourceOf, written } from '../lib/documents'
import { useText } from '../lib/i18n'
import { Marks, plain } from '../lib/marked'
import { placeOf } from '../lib/positions'
import { readable } from '../lib/readable'
import { Explanation } from './explanation'

interface Props {
  kb: string
  chunk: EngineChunk
  text: string
  match: SearchHit | undefined
  /** What it stands under; null: the same as the chunk before. */
  heading: string[] | null
  chosen: boolean
  /** The search that it may be a hit of, of the chunk that is chosen. */
  request: SearchRequest | null
  asked: boolean
  /** Metadata that the page shows once for all chunks. */
  shared: [name: string, value: string][]
  choose: (chunk: string) => void
}

/** A chunk in its document; the chosen one says what it is and whether it is in the answer. */
export const Chunk = memo(function Chunk({ kb, chunk, text, match, heading, chosen, request, asked, shared, choose }: Props) {
  const t = useText()
  const here = useRef<HTMLElement>(null)
  const shown = useMemo(() => readable(text), [text])
  useEffect(() => {
    if (chosen && here.current && !inSight(here.current)) here.current.scrollIntoView({ block: 'start' })
  }, [chosen])
  const label = t('hit.chunk', { ordinal: chunk.ordinal + 1 })
  return (
    <article ref={here} className={`passage${chosen ? ' chosen' : ''}${match ? ' match' : ''}`} aria-label={label} aria-current={chosen ? 'location' : undefined} data-chunk={chunk.id}>
      <button type="button" className="place" aria-label={label} aria-pressed={chosen} onClick={() => choose(chosen ? '' : chunk.id)}>{chunk.ordinal + 1}</button>
      <div className="body">
        {heading?.length ? <Heading path={heading} match={match} /> : null}
        <div className="reading"><Marks text={shown} /></div>
        <p className="under">
          {placeOf(chunk.positions, t)}
          {chunk.available ? null : <span className="tag warn">{t('doc.hidden')}</span>}
          {chosen || !asked ? null : <button type="button" className="linkish" aria-label={`${t('why.ask')} (${label})`} onClick={() => choose(chunk.id)}>{t('why.ask')}</button>}
        </p>
        {chosen ? (
          <div className="explanation">
            {request ? <Explanation request={request} kb={kb} chunk={chunk.id} label={label} /> : null}
            <Facts chunk={chunk} shared={shared} />
          </div>
        ) : null}
      </div>
    </article>
  )
})

/** Whether one sees where it begins. */
function inSight(element: Element): boolean {
  const { top } = element.getBoundingClientRect()
  return top >= 110 && top < innerHeight - 120
}

/** The last heading of the path; the ones above it in small. A title that has words of the question shows them. */
function Heading({ path, match }: { path: string[]; match: SearchHit | undefined }) {
  const marked = match?.question_highlight || match?.title_highlight
  const own = marked ? marked.split(/ (?:>|&gt;) /).at(-1)! : null
  return (
    <>
      {path.length > 2 ? <p className="above">{path.slice(1, -1).join(' › ')}</p> : null}
      <h2>{own ? <Marks text={plain(own)} /> : path.at(-1)}</h2>
    </>
  )
}

function Facts({ chunk, shared }: Pick<Props, 'chunk' | 'shared'>) {
  const t = useText()
  const source = sourceOf(chunk)
  const place = placeOf(chunk.positions, t)
  const own: [string, string][] = [
    [t('hit.id'), chunk.id],
    ...(place ? [[t('hit.position'), place] as [string, string]] : []),
    ...(chunk.category ? [[t('doc.category'), chunk.category] as [string, string]] : []),
    ...(chunk.date ? [[t('doc.date'), chunk.date] as [string, string]] : []),
    ...Object.entries(chunk.metadata ?? {}).filter(([name]) => !shared.some(([other]) => other === name)).map(([name, value]): [string, string] => [name, written(value)]),
  ]
  return (
    <dl className="facts">
      {own.map(([name, value]) => <div key={name}><dt>{name}</dt><dd className="mono">{value}</dd></div>)}
      {source ? <div><dt>{t('doc.source')}</dt><dd><a href={source} target="_blank" rel="noreferrer noopener">{source}</a></dd></div> : null}
    </dl>
  )
}
