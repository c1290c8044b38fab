import { memo, useEffect, useRef, useState } from 'react'
import type { SearchHit, SearchSecondScore, TextqueryQuery } from '../api/schema'
import { chance, documentName, number, percent } from '../lib/format'
import { useLanguage, useText } from '../lib/i18n'
import { languageName } from '../lib/languages'
import { Marked } from '../lib/marked'
import { placeOf } from '../lib/positions'
import { clicked } from '../lib/tracking'
import { Icon } from './icons'
import { legName, LegTable, ScoreBar, sharesOf } from './legs'
import { Link } from './link'
import { QueryTerms } from './query-terms'
import { Term } from './term'

/** How probably a hit answers the question, as a word and a percentage; short: the percentage. */
export function Relevance({ value, short }: { value: number | null; short?: boolean }) {
  const t = useText()
  if (value === null) return null
  const percent = chance(value)
  const about = value < 0.01 ? t('hit.relevant.rarely') : t('hit.relevant.about', { n: Math.min(99, Math.round(value * 100)) })
  return (
    <span className={`relevance${value >= 0.5 ? ' high' : ''}`} title={about}>
      {short ? percent : t('hit.relevant', { percent })}
    </span>
  )
}

/** What a hit is called: with marks where words of the question are in its name. */
export function Name({ hit, otherwise }: { hit: SearchHit; otherwise: string }) {
  const marked = hit.question ? hit.question_highlight : hit.title ? hit.title_highlight : ''
  return marked ? <Marked text={marked} asItIs /> : hit.question || hit.title || hit.document_name || otherwise
}

interface Props {
  hit: SearchHit
  queryID: string // of the answer
  position: number
  best: number // the best score of the answer
  query?: TextqueryQuery
  severalBases: boolean
  /** The address of its document, at this chunk. */
  to: string
  only: (document: string) => void
}

/** The hit whose document was opened last: who comes back finds it again. */
let left = ''

export const Hit = memo(function Hit({ hit, queryID, position, best, query, severalBases, to, only }: Props) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const here = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (left !== to) return
    left = ''
    here.current?.querySelector<HTMLElement>('h3 a')?.focus({ preventScroll: true })
    here.current?.scrollIntoView({ block: 'center' })
  }, [to])
  const legs = hit.legs ?? []
  const shares = sharesOf(legs)
    .filter((s) => s.share > 0)
    .map((s) => t('hit.share', { leg: legName(s.leg, t), percent: percent(s.share) }))
    .join(' · ')
  const panel = `why-${position}`
  return (
    <li ref={here} className="hit" data-key={`${hit.knowledge_base}/${hit.id}`} onClick={(e) => (e.target as Element).closest('a, button, summary') && void clicked(queryID, hit, position)}>
      <div className="place" aria-hidden="true">{position}</div>
      <div className="body">
        <h3><Link to={to} title={t('hit.open')} onClick={() => void (left = to)}><Name hit={hit} otherwise={t('hit.untitled')} /></Link></h3>
        <p className="source">
          {hit.pinned ? <span className="tag" title={t('hit.pinned.rule', { rule: hit.pinned.rule })}>{t('hit.pinned')}</span> : null}
          <button type="button" className="linkish" title={t('hit.only')} onClick={() => only(hit.document_id)}>
            <Icon name="file" />
            {documentName(hit)}
          </button>
          <span>{t('hit.chunk', { ordinal: hit.ordinal + 1 })}</span>
          {severalBases ? <span>{hit.knowledge_base}</span> : null}
        </p>
        <div className="snippets">
          {(hit.highlights?.length ? hit.highlights : [hit.content.slice(0, 240)]).map((fragment, i) => (
            <p key={i}>
              <Marked text={fragment} />
            </p>
          ))}
        </div>
        {hit.parent && hit.parent.to > hit.parent.from ? (
          <details className="section">
            <summary>{t('hit.section', { count: hit.parent.to - hit.parent.from + 1, found: hit.parent.children?.length ?? 1 })}</summary>
            <p>{hit.parent.content}</p>
          </details>
        ) : null}
        {hit.copies?.length ? (
          <p className="source">
            {t('hit.copies', {
              places: [...new Set(hit.copies.map((c) => `${c.knowledge_base}/${documentName(c)}`))].join(' · '),
            })}
          </p>
        ) : null}
        <button type="button" className="why" aria-expanded={open} aria-controls={panel} onClick={() => setOpen(!open)}>
          <ScoreBar score={hit.score} legs={legs} best={best} />
          <span className="score" title={t('hit.score')}>
            <span className="visually-hidden">{t('hit.score')} </span>
            {hit.score.toFixed(3)}
          </span>
          <span className="shares">{shares || t('hit.share.none')}</span>
          <span className="visually-hidden">{t('hit.why')}</span>
          <Icon name="chevron" />
        </button>
        {open ? <Why id={panel} hit={hit} position={position} query={query} /> : null}
      </div>
      <Relevance value={hit.relevance} />
    </li>
  )
})

/** How the score came to be. */
function Why({ id, hit, position, query }: { id: string; hit: SearchHit; position: number; query?: TextqueryQuery }) {
  const { t, language } = useLanguage()
  return (
    <div id={id} className="explanation">
      <LegTable legs={hit.legs ?? []} sum={hit.raw_score} label={`${t('hit.why')} (${position})`} />
      <dl className="facts">
        <div><dt><Term name="relevance">{t('hit.relevance')}</Term></dt><dd>{hit.relevance === null ? t('hit.relevance.unknown') : number(hit.relevance)}</dd></div>
        {hit.language ? <div><dt>{t('hit.language')}</dt><dd>{languageName(hit.language, language)}</dd></div> : null}
        {hit.boost != null && hit.boost < 1 ? <div><dt>{t('hit.boost')}</dt><dd>{number(hit.boost)}</dd></div> : null}
        <div><dt><Term name="vector_similarity">{t('hit.cosine')}</Term></dt><dd>{number(hit.vector_similarity)}</dd></div>
        <div><dt><Term name="term_similarity">{t('hit.term')}</Term></dt><dd>{number(hit.term_similarity)}</dd></div>
        <div><dt>{t('hit.id')}</dt><dd className="mono">{hit.id}</dd></div>
        {hit.positions?.length ? <div><dt>{t('hit.position')}</dt><dd>{placeOf(hit.positions, t)}</dd></div> : null}
      </dl>
      {hit.second_stage ? <SecondStage said={hit.second_stage} /> : null}
      {query ? <QueryTerms query={query} /> : null}
      <p className="label">{t('hit.content')}</p>
      <div className="fulltext" tabIndex={0} role="region" aria-label={`${t('hit.content')} (${position})`}>{hit.answer || hit.content}</div>
      {Object.keys(hit.metadata).length > 0 ? (
        <>
          <p className="label">{t('hit.metadata')}</p>
          <dl className="facts">
            {Object.entries(hit.metadata).map(([name, value]) => (
              <div key={name}><dt>{name}</dt><dd className="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</dd></div>
            ))}
          </dl>
        </>
      ) : null}
    </div>
  )
}

/** What a second stage made of a hit that the legs had found. */
function SecondStage({ said }: { said: SearchSecondScore }) {
  const t = useText()
  return (
    <>
      <p className="label">{t('hit.second')}</p>
      <dl className="facts second-stage">
        <div><dt>{t('hit.second.words')}</dt><dd>{number(said.words)}</dd></div>
        <div><dt>{t('hit.cosine')}</dt><dd>{number(said.cosine)}</dd></div>
        <div><dt>{t('hit.second.fused')}</dt><dd>{number(said.fused)}</dd></div>
        <div><dt>{t('hit.second.rank')}</dt><dd>{said.rank}</dd></div>
      </dl>
    </>
  )
}
