import { useEffect, useRef, useState } from 'react'
import type { SearchAnswer } from '../api/schema'
import type { Choices } from '../lib/bases'
import { percent } from '../lib/format'
import { useText, type Translate } from '../lib/i18n'
import type { Params } from '../lib/url'
import { single, type SearchState } from '../pages/search-state'
import { isText, legName } from './legs'
import { Term } from './term'

interface Props {
  state: SearchState
  choices: Choices
  answer?: SearchAnswer
  change: (c: Params, replace?: boolean) => void
}

/** The share of keywords among weights; null where nothing weighs anything. */
function shareOf(legs: { text: boolean; weight: number }[]): number | null {
  const sum = legs.reduce((s, l) => s + l.weight, 0)
  return sum > 0 ? legs.reduce((s, l) => s + (l.text ? l.weight : 0), 0) / sum : null
}

/** The share of keywords by knowledge base, as the hits were scored: a plan's weights may follow the question. */
function sharesInForce(answer: SearchAnswer): [base: string, share: number][] {
  const shares = new Map<string, number>()
  for (const hit of answer.hits ?? []) {
    const share = shares.has(hit.knowledge_base) ? null : shareOf((hit.legs ?? []).map((l) => ({ text: isText(l.leg), weight: l.weight })))
    if (share !== null) shares.set(hit.knowledge_base, share)
  }
  return [...shares]
}

const said = (share: number, t: Translate) => t('search.weight.value', { text: percent(share), vector: percent(1 - share) })

/** Moves weight between keywords and vectors; the list follows the thumb. */
export function Balance({ state, choices, answer, change }: Props) {
  const t = useText()
  const [moving, setMoving] = useState<number | null>(null)
  const timer = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  useEffect(() => setMoving(null), [state.weight])
  const preset = state.preset || choices.standard
  if (single.includes(preset)) return <p className="quiet small">{t('search.weight.single')}</p>
  const of = answer?.preset === preset ? answer : undefined // the one before may still be there
  const plan = of?.explain?.plan
  const kinds = new Set(plan?.legs?.map((l) => l.kind))
  const [only = ''] = kinds
  if (state.weight === null && kinds.size === 1 && Object.keys(of?.explain?.methods ?? {}).length === 1) {
    return <p className="quiet small">{t('search.weight.only', { leg: legName(only, t) })}</p>
  }
  const share = moving ?? state.weight ?? shareOf((plan?.legs ?? []).map((l) => ({ text: l.kind === 'text', weight: l.weight })))
  return (
    <div className={share === null ? 'field balance unknown' : 'field balance'}>
      <label htmlFor="balance"><Term name="weights">{t('search.weight')}</Term></label>
      <input
        id="balance"
        type="range"
        min="0"
        max="100"
        value={Math.round((share ?? 0.5) * 100)}
        style={share === null ? undefined : { '--share': `${share * 100}%` } as React.CSSProperties}
        aria-valuetext={share === null ? t('search.weight.unknown') : said(share, t)}
        aria-describedby="balance-about"
        onChange={(e) => {
          const next = Number(e.target.value) / 100
          setMoving(next)
          clearTimeout(timer.current)
          timer.current = window.setTimeout(() => change({ w: String(next) }, true), 60)
        }}
      />
      {share === null ? null : (
        <p className="ends" aria-hidden="true">
          <span className="text">{t('search.weight.text', { percent: percent(share) })}</span>
          <span className="vector">{t('search.weight.vector', { percent: percent(1 - share) })}</span>
        </p>
      )}
      <div id="balance-about" className="quiet small">
        {share === null ? <p>{t('search.weight.unknown')}</p> : null}
        {of && share !== null ? <InForce answer={of} planned={share} choices={choices} /> : null}
      </div>
      {state.weight !== null ? (
        <button type="button" className="linkish small" onClick={() => change({ w: null }, true)}>{t('search.weight.reset')}</button>
      ) : null}
    </div>
  )
}

/** What the weights came to for this question, where that is not what the slider says. */
function InForce({ answer, planned, choices }: { answer: SearchAnswer; planned: number; choices: Choices }) {
  const t = useText()
  const { plan, known } = answer.explain ?? {}
  const shares = sharesInForce(answer)
  const values = [...new Set(shares.map(([, share]) => percent(share)))]
  const nameOf = (id: string) => choices.bases.find((b) => b.id === id)?.name || id
  const differ = values.length > 1
  const [one] = shares
  return (
    <>
      {plan?.coverage ? <p>{known === undefined || differ ? t('search.weight.adapts') : t('search.weight.adapts.known', { percent: percent(known) })}</p> : null}
      {one && !differ && (plan?.coverage || values[0] !== percent(planned)) ? <p>{t('search.weight.force', { weights: said(one[1], t) })}</p> : null}
      {differ ? (
        <>
          <p>{t('search.weight.differ')}</p>
          <ul>
            {shares.map(([base, share]) => <li key={base}>{t('search.weight.of', { base: nameOf(base), weights: said(share, t) })}</li>)}
          </ul>
        </>
      ) : null}
    </>
  )
}
