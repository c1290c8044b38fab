import { useState } from 'react'
import type { CompareComparison } from '../api/schema'
import { Agreement } from '../components/agreement'
import { Board } from '../components/board'
import { Select } from '../components/field'
import { Icon } from '../components/icons'
import { Failure, Skeleton } from '../components/notice'
import { presetOptions } from '../components/settings'
import { useChoices, type Choices } from '../lib/bases'
import { csv, download, percent } from '../lib/format'
import { useText } from '../lib/i18n'
import { corpus, count, forget, qrels, queries, useJudgments } from '../lib/judgments'
import { useParams, type Params } from '../lib/url'
import { basesOf, depths, least, most, questionOf, placesOf, readCompare, useComparisons, writeColumn, type Answered, type ColumnState, type CompareState } from './compare-state'
import { single } from './search-state'
import '../styles/compare.css'

export default function ComparePage() {
  const t = useText()
  const [params, setParams] = useParams()
  const state = readCompare(params)
  const choices = useChoices()
  const bases = choices.data ? basesOf(state, choices.data) : []
  const questions = choices.data && bases.length > 0 ? state.questions.map((q) => questionOf(q, state, bases, choices.data!.standard)) : []
  const { answers, again } = useComparisons(questions)
  const at = Math.min(state.at, Math.max(0, state.questions.length - 1))
  const shown = answers[at]
  const set = (columns: ColumnState[]) => setParams({ col: columns.map(writeColumn) }, true)
  return (
    <div className="page wide">
      <div className="page-head">
        <h1>{t('compare.title')}</h1>
        <p>{t('compare.about')}</p>
      </div>
      {choices.error ? <Failure error={choices.error} again={choices.again} /> : null}
      {choices.data ? (
        <>
          <Questions key={state.questions.join('\n')} state={state} choices={choices.data} change={setParams} />
          <Columns state={state} choices={choices.data} set={set} />
        </>
      ) : null}
      {state.questions.length === 0 && choices.data ? <div className="blank"><p>{t('compare.start')}</p></div> : null}
      {state.questions.length > 1 ? (
        <QuestionList state={state} answers={answers} at={at} show={(i) => setParams({ at: String(i) }, true)} />
      ) : null}
      {questions.length > 0 && shown === undefined ? <Skeleton rows={5} /> : null}
      {shown instanceof Error ? <Failure error={shown} again={again} /> : null}
      {shown && !(shown instanceof Error) && questions.length > 0 ? (
        <>
          <Agreement comparison={shown} />
          <Board comparison={shown} query={state.questions[at] ?? ''} />
        </>
      ) : null}
      <Exports answers={answers} bases={bases} />
    </div>
  )
}

function Questions({ state, choices, change }: { state: CompareState; choices: Choices; change: (p: Params) => void }) {
  const t = useText()
  const [text, setText] = useState(state.questions.join('\n'))
  const ask = () => change({ q: text, at: null })
  return (
    <form className="compare-ask" onSubmit={(e) => (e.preventDefault(), ask())}>
      <div className="field">
        <label htmlFor="compare-q">{t('compare.label')}</label>
        <textarea
          id="compare-q"
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
      <Select label={t('compare.depth')} value={String(state.depth)} choose={(k) => change({ k: k === '10' ? null : k })}
        options={[...new Set([...depths, state.depth])].sort((a, b) => a - b).map((n) => ({ value: String(n), label: String(n) }))} />
      <button type="submit" className="button primary">{t('compare.go')}</button>
    </form>
  )
}

function Columns({ state, choices, set }: { state: CompareState; choices: Choices; set: (c: ColumnState[]) => void }) {
  const t = useText()
  const places = placesOf(choices)
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
            <select className="input" aria-label={t('compare.preset', { n })} value={c.preset} onChange={(e) => change(i, { preset: e.target.value })}>
              {presetOptions(choices, t).map((o) => <option key={o.value} value={o.value}>{o.label}</option>)}
            </select>
            {places.length > 1 ? (
              <select className="input" aria-label={t('compare.engine', { n })} value={`${c.kb}~${c.engine}`} onChange={(e) => change(i, placeOf(e.target.value))}>
                <option value="~">{t('compare.engine.all')}</option>
                {places.map((p) => <option key={`${p.kb}~${p.engine}`} value={`${p.kb}~${p.engine}`}>{p.label}</option>)}
              </select>
            ) : null}
            {single.includes(c.preset) ? null : (
              <select className="input" aria-label={t('compare.weight', { n })} value={c.weight ?? ''} onChange={(e) => change(i, { weight: e.target.value === '' ? null : Number(e.target.value) })}>
                <option value="">{t('compare.weight.own')}</option>
                {[...new Set([0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, ...(c.weight === null ? [] : [c.weight])])].sort((a, b) => a - b).map((w) => (
                  <option key={w} value={w}>{t('compare.weight.share', { percent: percent(w) })}</option>
                ))}
              </select>
            )}
            {state.columns.length > 2 ? (
              <button type="button" className="tool" aria-label={t('compare.remove', { n })} onClick={() => set(state.columns.filter((_, at) => at !== i))}>
                <Icon name="close" />
              </button>
            ) : null}
          </div>
        )
      })}
      {state.columns.length < most ? (
        <button type="button" className="button" onClick={() => set([...state.columns, { preset: 'rrf', weight: null, kb: '', engine: '' }])}>
          <Icon name="plus" />
          {t('compare.add')}
        </button>
      ) : null}
    </fieldset>
  )
}

/** Many questions, those first on which the columns differ most. */
function QuestionList({ state, answers, at, show }: { state: CompareState; answers: Answered[]; at: number; show: (i: number) => void }) {
  const t = useText()
  const rows = state.questions.map((question, i) => {
    const answer = answers[i]
    const known = answer && !(answer instanceof Error) ? answer : null
    return { question, i, overlap: known ? least(known.overlap) : null, rbo: known ? least(known.rbo) : null }
  })
  rows.sort((a, b) => (a.rbo ?? 2) - (b.rbo ?? 2) || a.i - b.i)
  const done = answers.slice(0, rows.length).filter((a) => a !== undefined).length
  return (
    <section className="question-list">
      <h2>{t('compare.list')}</h2>
      <p className="quiet small" role="status">{t('compare.list.progress', { done, all: rows.length })}</p>
      <div className="card scroll" tabIndex={0} role="region" aria-label={t('compare.list')}>
        <table className="grid-table">
          <thead>
            <tr>
              <th scope="col">{t('compare.list.question')}</th>
              <th scope="col" className="num">{t('compare.list.overlap')}</th>
              <th scope="col" className="num">{t('compare.list.rbo')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((r) => (
              <tr key={r.i} className={r.i === at ? 'current' : undefined}>
                <td><button type="button" className="linkish" aria-current={r.i === at} onClick={() => show(r.i)}>{r.question}</button></td>
                <td className="num">{r.overlap === null ? '–' : percent(r.overlap)}</td>
                <td className="num">{r.rbo === null ? '–' : r.rbo.toFixed(3)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** Every hit of every column as a line. */
function asCSV(comparisons: CompareComparison[], judgments: ReturnType<typeof useJudgments>): string {
  const head = ['query', 'column', 'rank', 'knowledge_base', 'id', 'document', 'title', 'score', 'moved', 'unique', 'judgement']
  const rows = comparisons.flatMap((c) => {
    const moves = new Map((c.moves ?? []).map((m) => [m.id, m]))
    return (c.columns ?? []).flatMap((side, column) =>
      (side.response?.hits ?? []).map((hit, i) => [
        c.query, side.label, i + 1, hit.knowledge_base, hit.id, hit.document_name || hit.document_id, hit.title, hit.score,
        moves.get(hit.id)?.moved?.[column], moves.get(hit.id)?.unique, judgments[c.query]?.[hit.id],
      ]),
    )
  })
  return [head, ...rows].map((row) => row.map(csv).join(',')).join('\r\n') + '\r\n'
}

function Exports({ answers, bases }: { answers: Answered[]; bases: string[] }) {
  const t = useText()
  const judgments = useJudgments()
  const done = answers.filter((a): a is CompareComparison => a !== undefined && !(a instanceof Error))
  const judged = count(judgments)
  return (
    <div className="exports">
      {done.length > 0 ? (
        <div className="row">
          <span className="label">{t('compare.export')}</span>
          <button type="button" className="button compact" onClick={() => download('comparison.csv', '\uFEFF' + asCSV(done, judgments), 'text/csv')}>
            <Icon name="download" />{t('compare.export.csv')}
          </button>
          <button type="button" className="button compact" onClick={() => download('comparison.json', JSON.stringify(done, null, 2), 'application/json')}>
            <Icon name="download" />{t('compare.export.json')}
          </button>
        </div>
      ) : null}
      {judged > 0 ? (
        <div className="row">
          <span className="label">{t('compare.judged', { count: judged })}</span>
          <button type="button" className="button compact" onClick={() => download('qrels.tsv', qrels(judgments), 'text/tab-separated-values')}>
            <Icon name="download" />{t('compare.judged.qrels')}
          </button>
          <button type="button" className="button compact" onClick={() => download('queries.jsonl', queries(judgments), 'application/jsonl')}>
            <Icon name="download" />{t('compare.judged.queries')}
          </button>
          <button type="button" className="button compact" onClick={() => void corpus(bases).then((text) => download('corpus.jsonl', text, 'application/jsonl'))}>
            <Icon name="download" />{t('compare.judged.corpus')}
          </button>
          <button type="button" className="linkish small" onClick={forget}>{t('compare.judged.clear')}</button>
          <p className="quiet small about">{t('compare.judged.about')}</p>
        </div>
      ) : null}
    </div>
  )
}
