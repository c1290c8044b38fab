import { memo, useState } from 'react'
import type { ScoringContribution, SearchHit, SearchSecondScore, TextqueryQuery } from '../api/schema'
import { chance, documentName, number, percent } from '../lib/format'
import { useLanguage, useText, type Key, type Translate } from '../lib/i18n'
import { languageName } from '../lib/languages'
import { Marked } from '../lib/marked'
import { clicked } from '../lib/tracking'
import { Icon } from './icons'
import { QueryTerms } from './query-terms'
import { Term } from './term'

export const isText = (leg: string) => !/vector|dense/.test(leg)

const names: Record<string, Key> = {
  text: 'hit.leg.text',
  vector: 'hit.leg.vector',
  title_vector: 'hit.leg.title_vector',
  question: 'hit.leg.question',
  answer: 'hit.leg.answer',
  question_vector: 'hit.leg.question_vector',
  answer_vector: 'hit.leg.answer_vector',
  // Signals are legs of a field: recency:published.
  recency: 'hit.leg.recency',
  number: 'hit.leg.number',
  match: 'hit.leg.match',
  // Steps beside the legs can fail too.
  catalog: 'hit.step.catalog',
  content: 'hit.step.content',
  rules: 'hit.step.rules',
  rerank: 'hit.step.rerank',
  relevance: 'hit.step.relevance',
  highlight: 'hit.step.highlight',
  diversity: 'hit.step.diversity',
  rewrite: 'hit.step.rewrite',
}

const signals = ['recency', 'number', 'match']

/** What a leg is called; a field of the user's has the name that they gave it. */
export function legName(leg: string, t: Translate): string {
  const [of, nth] = leg.split(':')
  const key = names[of!]
  if (key && nth && signals.includes(of!)) return t(key, { field: leg.slice(of!.length + 1) })
  if (key && nth && /^\d$/.test(nth)) return t('hit.leg.phrasing', { leg: t(key), nth })
  return key ? t(key) : leg
}

const first = ['text', 'question', 'vector', 'question_vector']

/** Which colour a leg has: warm for words, cool for vectors, another for the second of a kind. */
const look = (leg: string) => `${isText(leg) ? 'text' : 'vector'}${first.includes(leg) ? '' : ' second'}`

/** Each leg's part of a hit's points; a leg that took points away has none. */
export function sharesOf(legs: ScoringContribution[]): { leg: string; share: number }[] {
  const sum = legs.reduce((s, l) => s + Math.max(0, l.contribution), 0)
  return legs.map((l) => ({ leg: l.leg, share: sum > 0 ? Math.max(0, l.contribution) / sum : 0 }))
}

/** A bar as long as the score is beside the best of its list, divided by who earned it. */
export const ScoreBar = memo(function ScoreBar({ score, legs, best = 1 }: { score: number; legs: ScoringContribution[]; best?: number }) {
  const length = best > 0 ? Math.min(1, score / best) : 0
  const shares = sharesOf(legs)
  const none = shares.every((s) => s.share === 0) // each was below its average, say
  return (
    <span className="scorebar" aria-hidden="true">
      <span className={none ? 'filled none' : 'filled'} style={{ width: `${Math.max(1, length * 100)}%` }}>
        {shares.map((s) => (
          <span key={s.leg} className={look(s.leg)} style={{ flexGrow: s.share }} />
        ))}
      </span>
    </span>
  )
})

/** Which colour of the bars is which leg. */
export function Legend({ hits }: { hits: SearchHit[] }) {
  const t = useText()
  const legs = [...new Set(hits.flatMap((h) => (h.legs ?? []).map((l) => l.leg)))]
  if (legs.length === 0) return null
  return (
    <ul className="legend" aria-label={t('hit.legend')}>
      {legs.map((leg) => (
        <li key={leg}><span className={`dot ${look(leg)}`} />{legName(leg, t)}</li>
      ))}
    </ul>
  )
}

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
  only: (document: string) => void
}

export const Hit = memo(function Hit({ hit, queryID, position, best, query, severalBases, only }: Props) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const legs = hit.legs ?? []
  const shares = sharesOf(legs)
    .filter((s) => s.share > 0)
    .map((s) => t('hit.share', { leg: legName(s.leg, t), percent: percent(s.share) }))
    .join(' · ')
  const panel = `why-${position}`
  return (
    <li className="hit" onClick={(e) => (e.target as Element).closest('button, summary') && void clicked(queryID, hit, position)}>
      <div className="place" aria-hidden="true">{position}</div>
      <div className="body">
        <h3><Name hit={hit} otherwise={t('hit.untitled')} /></h3>
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
  const evident = hit.legs?.some((l) => l.evidence != null)
  return (
    <div id={id} className="explanation">
      <div className="scroll" tabIndex={0} role="region" aria-label={`${t('hit.why')} (${position})`}>
        <table>
          <thead>
            <tr>
              <th scope="col"><Term name="leg">{t('hit.leg')}</Term></th>
              <th scope="col">{t('hit.rank')}</th>
              <th scope="col"><Term name="raw_score">{t('hit.raw')}</Term></th>
              {evident ? <th scope="col" title={t('hit.evidence.about')}>{t('hit.evidence')}</th> : null}
              <th scope="col"><Term name="normalised">{t('hit.normalized')}</Term></th>
              <th scope="col">{t('hit.weight')}</th>
              <th scope="col"><Term name="contribution">{t('hit.contribution')}</Term></th>
            </tr>
          </thead>
          <tbody>
            {(hit.legs ?? []).map((l) => (
              <tr key={l.leg}>
                <th scope="row">
                  <span className={`dot ${look(l.leg)}`} />
                  {legName(l.leg, t)}
                </th>
                <td>{l.rank ?? <span className="quiet">{t('hit.notfound')}</span>}</td>
                <td>{number(l.raw)}</td>
                {evident ? <td>{number(l.evidence ?? null)}</td> : null}
                <td>{number(l.normalized)}</td>
                <td>{number(l.weight, 3)}</td>
                <td>{number(l.contribution)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" colSpan={evident ? 6 : 5}>{t('hit.sum')}</th>
              <td>{number(hit.raw_score)}</td>
            </tr>
          </tfoot>
        </table>
      </div>
      <dl className="facts">
        <div><dt><Term name="relevance">{t('hit.relevance')}</Term></dt><dd>{hit.relevance === null ? t('hit.relevance.unknown') : number(hit.relevance)}</dd></div>
        {hit.language ? <div><dt>{t('hit.language')}</dt><dd>{languageName(hit.language, language)}</dd></div> : null}
        {hit.boost != null && hit.boost < 1 ? <div><dt>{t('hit.boost')}</dt><dd>{number(hit.boost)}</dd></div> : null}
        <div><dt><Term name="vector_similarity">{t('hit.cosine')}</Term></dt><dd>{number(hit.vector_similarity)}</dd></div>
        <div><dt><Term name="term_similarity">{t('hit.term')}</Term></dt><dd>{number(hit.term_similarity)}</dd></div>
        <div><dt>{t('hit.id')}</dt><dd className="mono">{hit.id}</dd></div>
        {hit.positions?.length ? (
          <div><dt>{t('hit.position')}</dt><dd className="mono">{hit.positions.map((p) => p?.length === 2 ? t('hit.lines', { first: p[0] ?? 0, last: p[1] ?? 0 }) : `[${p?.join(', ')}]`).join(' ')}</dd></div>
        ) : null}
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
