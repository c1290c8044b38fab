import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { CompareComparison } from '../api/schema'
import { Agreement } from '../components/agreement'
import { Board } from '../components/board'
import { ComparisonExports } from '../components/comparison-exports'
import { Select } from '../components/field'
import { Icon } from '../components/icons'
import { Failure, Notice, Skeleton } from '../components/notice'
import { QuestionList } from '../components/question-list'
import { aboutPreset } from '../components/preset-about'
import { presetOptions } from '../components/settings'
import { Term } from '../components/term'
import { useChoices, type Choices } from '../lib/bases'
import { percent } from '../lib/format'
import { useText } from '../lib/i18n'
import { setsAtMost, setSize } from '../lib/question-sets'
import { useParams, type Params } from '../lib/url'
import { useQuestions, type Asked } from './compare-questions'
import { basesOf, depths, furtherColumn, most, placesOf, questionOf, readCompare, useComparisons, writeColumn, type ColumnState, type CompareState } from './compare-state'
import { single } from './search-state'
import '../styles/compare.css'

export default function ComparePage() {
  const t = useText()
  const [params, setParams] = useParams()
  const asked = useQuestions(params, setParams)
  const state = readCompare(params)
  const choices = useChoices()
  const bases = choices.data ? basesOf(state, choices.data) : []
  const questions = useWritten(asked.questions, state, choices.data)
  const at = Math.min(state.at, Math.max(0, asked.questions.length - 1))
  const comparisons = useComparisons(questions, at)
  const set = (columns: ColumnState[]) => setParams({ col: columns.map(writeColumn) }, true)
  const show = useCallback((i: number) => setParams({ at: String(i) }, true), [setParams])
  return (
    <div className="page wide">
      <div className="page-head">
        <h1>{t('compare.title')}</h1>
        <p>{t('compare.about')}</p>
      </div>
      {choices.error ? <Failure error={choices.error} again={choices.again} /> : null}
      {choices.data ? (
        <>
          <Questions asked={asked} state={state} choices={choices.data} change={setParams} anew={comparisons.anew} />
          <Columns state={state} choices={choices.data} set={set} />
        </>
      ) : null}
      {asked.questions.length === 0 && !asked.missing && choices.data ? <div className="blank"><p>{t('compare.start')}</p></div> : null}
      {asked.questions.length > 1 ? (
        <QuestionList questions={asked.questions} comparisons={comparisons} at={at} show={show} />
      ) : null}
      {comparisons.halted ? <Failure error={comparisons.halted} again={comparisons.again} /> : null}
      {questions.length > 0 ? (
        <Shown query={asked.questions[at] ?? ''} several={questions.length > 1} answer={comparisons.answers[at]}
          waiting={!comparisons.halted} again={comparisons.again} />
      ) : null}
      <ComparisonExports answers={comparisons.answers} bases={bases} />
    </div>
  )
}

/** The questions as the gateway is asked them: the same list until one of them, or how it is asked, changes. */
function useWritten(asked: string[], state: CompareState, choices?: Choices) {
  const t = useText()
  const how = JSON.stringify({ ...state, at: 0 })
  return useMemo(() => {
    const state = JSON.parse(how) as CompareState
    return choices && basesOf(state, choices).length > 0 ? asked.map((q) => questionOf(q, state, choices, t)) : []
  }, [asked, how, choices, t])
}

interface ShownProps {
  query: string
  several: boolean
  answer?: CompareComparison | Error
  waiting: boolean
  again: () => void
}

/** One question's comparison. The last one stays until the next has come, so that nothing jumps. */
function Shown({ query, several, answer, waiting, again }: ShownProps) {
  const last = useRef<CompareComparison>(undefined)
  useEffect(() => {
    if (answer && !(answer instanceof Error)) last.current = answer
  }, [answer])
  if (answer instanceof Error) return <Failure error={answer} again={again} />
  const comparison = answer ?? (last.current?.query === query ? last.current : undefined)
  if (!comparison) return waiting ? <Skeleton rows={5} /> : null
  return (
    <div className="comparison" aria-busy={!answer}>
      {several ? <h2 className="asked">{query}</h2> : null}
      <Agreement comparison={comparison} />
      <Board comparison={comparison} query={query} />
    </div>
  )
}

interface QuestionsProps {
  asked: Asked
  state: CompareState
  choices: Choices
  change: (p: Params) => void
  anew: () => void
}

function Questions({ asked, state, choices, change, anew }: QuestionsProps) {
  const t = useText()
  const there = asked.questions.join('\n')
  const [text, setText] = useState(there)
  useEffect(() => setText(there), [there])
  const input = useRef<HTMLTextAreaElement>(null)
  const ask = () => {
    anew()
    asked.ask(text)
  }
  return (
    <>
      <form className="compare-ask" onSubmit={(e) => (e.preventDefault(), ask())}>
        <div className="field">
          <label htmlFor="compare-q">{t('compare.label')}</label>
          <textarea
            id="compare-q"
            ref={input}
            className="input"
            rows={Math.min(6, Math.max(2, text.split('\n').length))}
            value={text}
            placeholder={t('compare.placeholder')}
            onChange={(e) => setText(e.target.value)}
            onKeyDown={(e) => {
              if (e.key === 'Enter' && !e.shiftKey && !e.nativeEvent.isComposing) {
                e.preventDefault()
                ask()
              }
            }}
          />
        </div>
        {choices.bases.length > 1 ? (
          <Select label={t('compare.base')} value={state.kb[0] ?? ''} choose={(kb) => change({ kb })}
            options={[{ value: '', label: t('compare.base.all') }, ...choices.bases.map((b) => ({ value: b.id, label: b.name || b.id }))]} />
        ) : null}
        <Select label={<Term name="top_k">{t('compare.depth')}</Term>} value={String(state.depth)} choose={(k) => change({ k: k === '10' ? null : k })}
          options={[...new Set([...depths, state.depth])].sort((a, b) => a - b).map((n) => ({ value: String(n), label: String(n) }))} />
        <button type="submit" className="button primary">{t('compare.go')}</button>
      </form>
      {asked.kept ? <p className="quiet small set">{t('compare.set.kept', { count: asked.questions.length })}</p> : null}
      {asked.tooMany ? (
        <Notice title={t('compare.set.full')} tone="error"><p>{t('compare.set.full.about', { most: setSize.toLocaleString() })}</p></Notice>
      ) : null}
      {asked.missing ? (
        <Notice title={t('compare.set.missing')}>
          <p>{t('compare.set.missing.about', { most: setsAtMost })}</p>
          <p className="row"><button type="button" className="button" onClick={() => input.current?.focus()}>{t('compare.set.paste')}</button></p>
        </Notice>
      ) : null}
    </>
  )
}

/** The columns with one of them before its left neighbour. */
const swapped = (columns: ColumnState[], i: number) =>
  [...columns.slice(0, i - 1), columns[i]!, columns[i - 1]!, ...columns.slice(i + 1)]

function Columns({ state, choices, set }: { state: CompareState; choices: Choices; set: (c: ColumnState[]) => void }) {
  const t = useText()
  const places = placesOf(choices)
  const about = (preset: string) => {
    const { description, when_to_use } = aboutPreset(preset, choices) ?? {}
    return [description, when_to_use].filter(Boolean).join('\n') || undefined
  }
  const placeOf = (value: string) => {
    const [kb = '', engine = ''] = value.split('~')
    return { kb, engine }
  }
  const change = (i: number, part: Partial<ColumnState>) => set(state.columns.map((c, at) => (at === i ? { ...c, ...part } : c)))
  return (
    <fieldset className="column-settings">
      <legend className="visually-hidden">{t('compare.columns')}</legend>
      {state.columns.map((c, i) => {
        const n = i + 1
        return (
          <div key={i} className="column-setting card" role="group" aria-label={t('compare.column', { n })}>
            <span className="number" aria-hidden="true">{n}</span>
            <select className="input" aria-label={t('compare.preset', { n })} title={about(c.preset)} value={c.preset} onChange={(e) => change(i, { preset: e.target.value })}>
              {presetOptions(choices, t).map((o) => <option key={o.value} value={o.value}>{o.label}</option>)}
            </select>
            {places.length > 1 ? (
              <select className="input" aria-label={t('compare.engine', { n })} value={`${c.kb}~${c.engine}`} onChange={(e) => change(i, placeOf(e.target.value))}>
                <option value="~">{t('compare.engine.all')}</option>
                {places.map((p) => <option key={`${p.kb}~${p.engine}`} value={`${p.kb}~${p.engine}`}>{p.label}</option>)}
              </select>
            ) : null}
            {single.includes(c.preset || choices.standard) ? null : (
              <select className="input" aria-label={t('compare.weight', { n })} value={c.weight ?? ''} onChange={(e) => change(i, { weight: e.target.value === '' ? null : Number(e.target.value) })}>
                <option value="">{t('compare.weight.own')}</option>
                {[...new Set([0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, ...(c.weight === null ? [] : [c.weight])])].sort((a, b) => a - b).map((w) => (
                  <option key={w} value={w}>{t('compare.weight.share', { percent: percent(w) })}</option>
                ))}
              </select>
            )}
            {i > 0 ? (
              <button type="button" className="tool" aria-label={t('compare.left', { n })} title={t('compare.left', { n })} onClick={() => set(swapped(state.columns, i))}>
                <Icon name="left" />
              </button>
            ) : null}
            {state.columns.length > 2 ? (
              <button type="button" className="tool" aria-label={t('compare.remove', { n })} onClick={() => set(state.columns.filter((_, at) => at !== i))}>
                <Icon name="close" />
              </button>
            ) : null}
          </div>
        )
      })}
      {state.columns.length < most ? (
        <button type="button" className="button" onClick={() => set([...state.columns, furtherColumn(state.columns, choices)])}>
          <Icon name="plus" />
          {t('compare.add')}
        </button>
      ) : null}
    </fieldset>
  )
}
