import { useState } from 'react'
import type { EvaluationComparison, JudgmentLists, RunsEvaluation } from '../api/schema'
import { Confirm } from '../components/confirm'
import { ByQuestion } from '../components/evaluation/by-question'
import { Promote } from '../components/evaluation/promote'
import { QuestionDetail } from '../components/evaluation/question-detail'
import { RelevanceCheck } from '../components/evaluation/relevance-check'
import { ResultTable } from '../components/evaluation/result-table'
import { State, Working } from '../components/evaluation/state'
import { Sweep } from '../components/evaluation/sweep'
import { Unjudged } from '../components/evaluation/unjudged'
import { Select } from '../components/field'
import { Link } from '../components/link'
import { Failure, Notice, Skeleton } from '../components/notice'
import { call } from '../lib/api'
import { measureOf, sweptIn, titleOf, useEvaluations } from '../lib/evaluations'
import { useText } from '../lib/i18n'
import { useJob } from '../lib/jobs'
import { useLoad } from '../lib/load'
import { navigate, useParams, usePlace } from '../lib/url'
import '../styles/evaluate.css'
import '../styles/mappings.css'
import '../styles/playground.css'

/** One evaluation: how far it is, and what it found. */
export default function EvaluationPage() {
  const t = useText()
  const { evaluation: id = '' } = usePlace()
  const path = `/v1/evaluations/${encodeURIComponent(id)}`
  const loaded = useLoad(['evaluation', id], (signal) => call<RunsEvaluation>('GET', path, undefined, signal))
  const e = loaded.data
  const job = useJob(e?.state === 'running' ? id : undefined, loaded.again)
  return (
    <div className="page">
      <p className="quiet small"><Link to="/evaluate?view=evaluations">{t('eval.title')}</Link></p>
      {loaded.error ? <Failure error={loaded.error} again={loaded.again} /> : null}
      {!e && !loaded.error ? <Skeleton rows={3} /> : null}
      {e ? (
        <>
          <Head evaluation={e} path={path} changed={loaded.again} />
          {e.state === 'running' ? (
            <Working done={job?.progress.done ?? e.answered} total={job?.progress.total ?? e.searches}
              about={t('eval.answered', { done: job?.progress.done ?? e.answered, all: job?.progress.total ?? e.searches })} />
          ) : null}
          {e.error ? <Notice title={e.error} tone="error" /> : null}
          {e.results?.length ? <Outcome evaluation={e} /> : null}
        </>
      ) : null}
    </div>
  )
}

function Head({ evaluation: e, path, changed }: { evaluation: RunsEvaluation; path: string; changed: () => void }) {
  const t = useText()
  const [error, setError] = useState<Error>()
  const lists = useLoad(['lists of a set', e.query_set], (signal) => call<JudgmentLists>('GET', `/v1/judgments?query_set=${e.query_set}`, undefined, signal))
  const act = (what: Promise<unknown>, then: (answer: unknown) => void = changed) => what.then(then, setError)
  const anew = () => act(call('POST', '/v1/evaluations', {
    query_set: e.query_set, judgments: e.judgments, systems: e.systems, metrics: e.metrics, against: e.against, judged_as: e.judged_as, name: e.name,
  }), (answer) => navigate(`/evaluate/${(answer as RunsEvaluation).id}?baseline=${e.id}`))
  const list = lists.data?.judgment_lists.find((l) => l.id === e.judgments)
  return (
    <>
      <div className="page-head">
        <h1>{titleOf(e)}</h1>
        <State of={e.state} />
        <span className="row end">
          {e.state === 'running' ? <button type="button" className="button" onClick={() => void act(call('POST', `${path}/cancel`))}>{t('app.cancel')}</button> : null}
          {e.state !== 'running' && e.state !== 'done' ? <button type="button" className="button primary" onClick={() => void act(call('POST', `${path}/resume`))}>{t('eval.resume')}</button> : null}
          {e.state === 'done' ? <button type="button" className="button" onClick={() => void anew()}>{t('eval.anew')}</button> : null}
          {e.state === 'running' ? null : (
            <Confirm label={t('bases.delete')} tone="danger" about={t('eval.delete.about')} act={() => act(call('DELETE', path), () => navigate('/evaluate?view=evaluations'))} />
          )}
        </span>
        <p>
          {t('eval.of', { set: e.query_set, list: list?.name || e.judgments, when: new Date(e.created_at).toLocaleString() })}{' '}
          {list?.source && list.source !== 'people' ? <span className="tag warn">{t(`eval.list.source.${list.source}`)}</span> : null}
        </p>
      </div>
      {error ? <Failure error={error} /> : null}
    </>
  )
}

/** What the address chooses of a result: which metric, which two systems, which question. */
function Outcome({ evaluation: e }: { evaluation: RunsEvaluation }) {
  const t = useText()
  const [params, change] = useParams()
  const names = (e.results ?? []).map((r) => r.system)
  const metrics = e.metrics ?? []
  const metric = metrics.find((m) => m === params.get('metric')) ?? metrics[0] ?? ''
  const others = names.filter((n) => n !== e.against)
  const best = others.reduce((a, b) => ((measureOf(e, b, metric)?.mean ?? 0) > (measureOf(e, a, metric)?.mean ?? 0) ? b : a), others[0] ?? names[0] ?? '')
  const system = names.find((n) => n === params.get('system')) ?? best
  const baseline = params.get('baseline') ?? ''
  const against = baseline ? system : (names.find((n) => n === params.get('against') && n !== system) ?? (system === e.against ? others[0] : e.against) ?? system)
  const query = params.get('q') ?? ''
  const comparison = useLoad(['comparison', e.id, system, against, baseline, metric], (signal) => call<EvaluationComparison>('GET',
    `/v1/evaluations/${e.id}/comparison?${new URLSearchParams({ system, against, metric, ...(baseline ? { baseline } : {}) })}`, undefined, signal))
  const shares = sweptIn(e.systems ?? [])
  return (
    <div className="outcome">
      <div className="fields">
        <Select label={t('eval.metric')} value={metric} choose={(m) => change({ metric: m }, true)} options={metrics.map((m) => ({ value: m, label: m }))} />
        <Select label={t('eval.system')} value={system} choose={(s) => change({ system: s }, true)} options={names.map((n) => ({ value: n, label: n }))} />
        <Against evaluation={e} system={system} value={baseline ? `~${baseline}` : against} choose={(value) =>
          change(value.startsWith('~') ? { baseline: value.slice(1), against: null } : { baseline: null, against: value }, true)} />
      </div>
      <ResultTable evaluation={e} metric={metric} chosen={system} choose={(s) => change({ system: s }, true)} />
      <Promote key={`${system} ${metric}`} evaluation={e} system={system} metric={metric} />
      <Refusals evaluation={e} />
      {shares ? <Sweep evaluation={e} shares={shares} metric={metric} /> : null}
      <RelevanceCheck key={system} evaluation={e.id} system={system} />
      <Unjudged evaluation={e} />
      {comparison.error ? <Failure error={comparison.error} again={comparison.again} /> : null}
      {comparison.data ? (
        <ByQuestion comparison={comparison.data} chosen={query} choose={(q) => change({ q: q === query ? null : q }, true)}
          names={{ system, against: baseline ? t('eval.before', { system }) : against }}>
          {query ? <QuestionDetail evaluation={e} query={query} systems={[...new Set([system, against])]} close={() => change({ q: null }, true)} /> : null}
        </ByQuestion>
      ) : null}
    </div>
  )
}

/** What a system is held against: another one, or itself in an earlier evaluation of the same questions. */
function Against({ evaluation: e, system, value, choose }: { evaluation: RunsEvaluation; system: string; value: string; choose: (value: string) => void }) {
  const t = useText()
  const all = useEvaluations()
  const earlier = (all.data?.evaluations ?? []).filter((o) => o.id !== e.id && o.state === 'done' && o.query_set === e.query_set &&
    o.systems?.some((s) => s.name === system))
  return (
    <Select label={t('eval.against.choose')} value={value} choose={choose} options={[
      ...(e.results ?? []).filter((r) => r.system !== system).map((r) => ({ value: r.system, label: r.system })),
      ...earlier.map((o) => ({ value: `~${o.id}`, label: t('eval.against.earlier', { when: new Date(o.created_at).toLocaleString(), name: titleOf(o) }) })),
    ]} />
  )
}

/** Where a set has questions without an answer: how often each system rightly says so. */
function Refusals({ evaluation: e }: { evaluation: RunsEvaluation }) {
  const t = useText()
  const known = (e.results ?? []).filter((r) => r.rightly_refused !== undefined)
  if (known.length === 0) return null
  const said = (share?: number) => (share === undefined ? '–' : `${Math.round(share * 100)} %`)
  return (
    <ul className="quiet small">
      {known.map((r) => <li key={r.system}>{t('eval.refused', { system: r.system, right: said(r.rightly_refused), wrong: said(r.wrongly_refused) })}</li>)}
    </ul>
  )
}
