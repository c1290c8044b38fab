import { useState } from 'react'
import type { EventsAnalytics, EventsQuestion, EventsReformulation, LibraryJudgmentList, LibraryQuerySet } from '../api/schema'
import { EventsOff } from '../components/evaluation/events-off'
import { Tabs } from '../components/evaluation/tabs'
import { Select } from '../components/field'
import { Link } from '../components/link'
import { Failure, Skeleton } from '../components/notice'
import { ApiError, call } from '../lib/api'
import { useChoices } from '../lib/bases'
import { useJudgmentLists, useQuerySets } from '../lib/evaluations'
import { ms, percent } from '../lib/format'
import { useText, type Key } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { addQueries } from '../lib/queries'
import { idOf } from '../lib/question-sets'
import { navigate, useParams } from '../lib/url'
import { everyQuery } from './judge-state'
import '../styles/evaluate.css'
import '../styles/mappings.css'
import '../styles/playground.css'

const days = [1, 7, 30, 90]

/** What users search for, and where that goes wrong. */
export default function AnalyticsPage() {
  const t = useText()
  const [params, change] = useParams()
  const choices = useChoices()
  const period = days.find((d) => String(d) === params.get('days')) ?? 7
  const kb = params.get('kb') ?? ''
  const report = useLoad(['analytics', period, kb], (signal) => call<EventsAnalytics>('GET', `/v1/events/analytics?${new URLSearchParams({
    from: new Date(Date.now() - period * 86_400_000).toISOString(), limit: '20', ...(kb ? { knowledge_base: kb } : {}),
  })}`, undefined, signal))
  const sets = useQuerySets()
  const lists = useJudgmentLists()
  const set = sets.data?.query_sets.find((s) => s.id === params.get('set')) ?? sets.data?.query_sets[0]
  const list = lists.data?.judgment_lists.find((l) => l.query_set === set?.id && (l.source ?? 'people') === 'people')
  const off = report.error instanceof ApiError && report.error.code === 'unsupported'
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('ana.title')}</h1>
        <p>{t('ana.about')}</p>
      </div>
      <Tabs at="analytics" />
      {off ? <EventsOff title={t('ana.off')} /> : null}
      {report.error && !off ? <Failure error={report.error} again={report.again} /> : null}
      {!report.data && !report.error ? <Skeleton rows={3} /> : null}
      {report.data ? (
        <div className="outcome">
          <div className="fields">
            <Select label={t('ana.period')} value={String(period)} choose={(d) => change({ days: d === '7' ? null : d }, true)}
              options={days.map((d) => ({ value: String(d), label: t('ana.days', { days: d }) }))} />
            <Select label={t('eval.base')} value={kb} choose={(id) => change({ kb: id || null }, true)}
              options={[{ value: '', label: t('base.all') }, ...(choices.data?.bases ?? []).map((b) => ({ value: b.id, label: b.name || b.id }))]} />
            {sets.data?.query_sets.length ? (
              <Select label={t('ana.into')} value={set?.id ?? ''} choose={(id) => change({ set: id }, true)} options={sets.data.query_sets.map((s) => ({ value: s.id, label: s.name || s.id }))} />
            ) : null}
          </div>
          <Totals report={report.data} />
          {report.data.totals.searches === 0 ? <p className="quiet">{t('ana.none')}</p> : <Lists report={report.data} kb={kb} set={set} list={list} />}
        </div>
      ) : null}
    </div>
  )
}

function Totals({ report: { totals: now, before } }: { report: EventsAnalytics }) {
  const t = useText()
  const share = (part: number, of: number) => (of > 0 ? percent(part / of) : '–')
  const rows: [Key, string, string][] = [
    ['ana.searches', now.searches.toLocaleString(), before.searches.toLocaleString()],
    ['ana.clicked', now.click_through === null ? '–' : percent(now.click_through), before.click_through === null ? '–' : percent(before.click_through)],
    ['ana.zero', share(now.zero_result, now.searches), share(before.zero_result, before.searches)],
    ['ana.refused', share(now.refused, now.searches), share(before.refused, before.searches)],
    ['ana.failed', share(now.failed, now.searches), share(before.failed, before.searches)],
    ['ana.p95', now.p95_ms === null ? '–' : ms(now.p95_ms), before.p95_ms === null ? '–' : ms(before.p95_ms)],
  ]
  return (
    <dl className="totals card padded">
      {rows.map(([key, value, was]) => (
        <div key={key}><dt>{t(key)}</dt><dd>{value}</dd><dd className="quiet small">{t('ana.before', { value: was })}</dd></div>
      ))}
    </dl>
  )
}

interface ListsProps {
  report: EventsAnalytics
  kb: string
  set?: LibraryQuerySet
  list?: LibraryJudgmentList
}

const kinds = [['top', 'count'], ['zero_result', 'zero_result'], ['refused', 'refused'], ['slow', 'slowest_ms'], ['changed', 'count']] as const

function Lists({ report, kb, set, list }: ListsProps) {
  const t = useText()
  const [error, setError] = useState<Error>()
  const judge = async (query: string) => {
    if (!set || !list) return
    try {
      const there = (await everyQuery(set.id)).find((q) => q.text === query)
      const id = there?.id ?? idOf(query)
      if (!there) await addQueries(set.id, [{ id, text: query }])
      navigate(`/judge/${list.id}?only=${encodeURIComponent(id)}`)
    } catch (e) {
      setError(e as Error)
    }
  }
  const act = set && list ? (q: string) => void judge(q) : undefined
  return (
    <>
      {error ? <Failure error={error} /> : null}
      {act ? null : <p className="quiet small">{t('ana.noset')} <Link to="/evaluate?view=questions">{t('eval.view.questions')}</Link></p>}
      <div className="lists-of">
        {kinds.filter(([kind]) => report[kind].length > 0).map(([kind, by]) => (
          <Asked key={kind} title={t(`ana.${kind}.title`)} rows={report[kind]} by={by} kb={kb} judge={act} />
        ))}
        {report.reformulated.length > 0 ? <Reworded rows={report.reformulated} kb={kb} /> : null}
      </div>
    </>
  )
}

const searchOf = (q: string, kb: string) => `/?${new URLSearchParams({ q, ...(kb ? { kb } : {}) })}`

interface AskedProps {
  title: string
  rows: EventsQuestion[]
  by: 'count' | 'zero_result' | 'refused' | 'slowest_ms'
  kb: string
  judge?: (query: string) => void
}

function Asked({ title, rows, by, kb, judge }: AskedProps) {
  const t = useText()
  return (
    <section className="part">
      <h2>{title}</h2>
      <div className="card scroll" tabIndex={0} role="region" aria-label={title}>
        <table className="grid-table">
          <thead>
            <tr>
              <th scope="col">{t('compare.list.question')}</th>
              <th scope="col" className="num">{by === 'slowest_ms' ? t('eval.time') : t('ana.searches')}</th>
              <th scope="col" className="num">{t('ana.was')}</th>
              <th scope="col" className="num">{t('ana.clicked')}</th>
              {judge ? <th scope="col"><span className="visually-hidden">{t('eval.list.judge')}</span></th> : null}
            </tr>
          </thead>
          <tbody>
            {rows.map((r, i) => (
              <tr key={i}>
                <td>{r.query ? <Link to={searchOf(r.query, kb)}>{r.query}</Link> : <span className="mono quiet">{r.text_hash}</span>}</td>
                <td className="num">{by === 'slowest_ms' ? ms(r.slowest_ms) : r[by]}</td>
                <td className="num quiet">{r.before}</td>
                <td className="num">{percent(r.click_through)}</td>
                {judge ? (
                  <td className="num">
                    {r.query ? <button type="button" className="button compact" aria-label={t('ana.judge', { query: r.query })} onClick={() => judge(r.query!)}>{t('eval.list.judge')}</button> : null}
                  </td>
                ) : null}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Reworded({ rows, kb }: { rows: EventsReformulation[]; kb: string }) {
  const t = useText()
  const of = (text?: string, hash?: string) => (text ? <Link to={searchOf(text, kb)}>{text}</Link> : <span className="mono quiet">{hash}</span>)
  return (
    <section className="part">
      <h2>{t('ana.reworded.title')}</h2>
      <ul className="card padded part small">
        {rows.map((r, i) => <li key={i}>{of(r.from, r.from_hash)} → {of(r.to, r.to_hash)} <span className="quiet">{r.count}</span></li>)}
      </ul>
    </section>
  )
}
