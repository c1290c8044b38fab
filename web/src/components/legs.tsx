import { memo } from 'react'
import type { ScoringContribution, SearchHit } from '../api/schema'
import { number } from '../lib/format'
import { useText, type Key, type Translate } from '../lib/i18n'
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

/** What each leg gave, and what it comes to. */
export function LegTable({ legs, sum, label }: { legs: ScoringContribution[]; sum: number | null; label: string }) {
  const t = useText()
  const evident = legs.some((l) => l.evidence != null)
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={label}>
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
          {legs.map((l) => (
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
            <td>{number(sum)}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  )
}
