import { Suspense, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import type { Index, SearchHit, SearchRequest, SearchAnswer } from '../api/schema'
import { Hit } from '../components/hit'
import { Icon } from '../components/icons'
import { toHit } from '../components/keys'
import { Legend, legName } from '../components/legs'
import { MovingList } from '../components/moving-list'
import { Failure, Notice, Skeleton } from '../components/notice'
import { QueryForm } from '../components/query-form'
import { QueryTerms } from '../components/query-terms'
import { Beyond, Empty, NoBase, NoneChosen, NothingRelevant, Start } from '../components/search-blanks'
import { Settings } from '../components/settings'
import { Term } from '../components/term'
import { Timings } from '../components/timings'
import { api, call } from '../lib/api'
import { useChoices } from '../lib/bases'
import { documentAt } from '../lib/documents'
import { useFirstRun } from '../lib/first-run'
import { percent } from '../lib/format'
import { useLanguage, useText } from '../lib/i18n'
import { languageName } from '../lib/languages'
import { later } from '../lib/later'
import { useLoad } from '../lib/load'
import { identified, shown as showed } from '../lib/tracking'
import { useParams, useQuery, type Params } from '../lib/url'
import { answering, basesOf, nearestOf, offeredTo, readState, requestOf, suggestedFrom, withNearest, type SearchState } from './search-state'

const Answer = later(() => import('../components/answer')) // where a model answers
const FirstRun = later(() => import('../components/first-run')) // most never see it

export function SearchPage() {
  const t = useText()
  const [params, setParams] = useParams()
  const state = readState(params)
  const choices = useChoices()
  const request = choices.data ? requestOf(state, choices.data) : null
  const answer = useLoad(request && ['search', request], async (signal) => ({ to: state, asked: request!, ...await api.search(await identified(request!), signal) }), { delay: 40 })
  const hits = useNearest(answer.data)
  /** A change of what is asked begins at its first page. */
  const change = (c: Params, replace = false) => setParams({ page: null, ...c }, replace)
  const list = choices.data
  const answers = useLoad(['index'], (signal) => call<Index>('GET', '/', undefined, signal)).data?.answers ?? false
  const none = list !== undefined && basesOf(state, list).length === 0
  const first = useFirstRun(list, choices.again, request !== null && (answer.data?.hits ?? []).length > 0)
  return (
    <div className="page search">
      <h1 className="visually-hidden">{t('search.title')}</h1>
      <QueryForm key={state.q} q={state.q} among={list ? suggestedFrom(state, list) : null} ask={(q, replace) => change({ q }, replace)}>
        {answers ? <WithAnswer on={state.answered} choose={(on) => setParams({ answer: on ? '1' : null })} /> : null}
      </QueryForm>
      {hits.length > 0 ? <a className="skip" href="#hits" onClick={(e) => (e.preventDefault(), toHit(0))}>{t('search.skip')}</a> : null}
      {choices.error ? <Failure error={choices.error} again={choices.again} /> : null}
      {list ? (
        <div className="columns">
          <Settings state={state} choices={list} answer={request ? answer.data : undefined} change={change} />
          <section className="results" aria-label={t('search.results')} aria-busy={answer.loading}>
            {first.shown && list ? (
              <Suspense fallback={null}>
                <FirstRun choices={list} chunks={first.chunks} asked={first.asked} ask={(q) => change({ q })} again={first.again} dismiss={first.dismiss} done={first.done} />
              </Suspense>
            ) : null}
            {first.missing && !first.shown ? <NoBase /> : null}
            {none && !first.missing ? <NoneChosen all={() => change({ kb: null, ...(offeredTo(state, list).length === 0 ? { engine: null } : {}) })} /> : null}
            {!none && !first.shown && !state.q.trim() ? <Start choices={list} ask={(q) => change({ q })} /> : null}
            {answers && state.answered && request ? (
              <Suspense fallback={<Skeleton rows={1} />}><Answer request={request} hits={answer.data?.to.page === state.page ? hits : []} /></Suspense>
            ) : null}
            {answer.error && request ? <Failure error={answer.error} again={answer.again} /> : null}
            {request && !answer.data && answer.loading && !answer.error ? <Skeleton rows={6} /> : null}
            {request && answer.data && !answer.error ? (
              <Results state={state} answer={answer.data} hits={hits} stale={answer.loading} change={change}
                turn={(page) => setParams({ page: page > 1 ? String(page) : null })} />
            ) : null}
          </section>
        </div>
      ) : null}
    </div>
  )
}

function WithAnswer({ on, choose }: { on: boolean; choose: (on: boolean) => void }) {
  const t = useText()
  return (
    <label className="check small">
      <input type="checkbox" role="switch" checked={on} onChange={(e) => choose(e.target.checked)} />
      {t('answer.switch')}
    </label>
  )
}

/** The hits of an answer; those that no word of the question is in get better fragments a little later. */
function useNearest(answer: Answer | undefined): SearchHit[] {
  const request = answer ? nearestOf(answer.asked, answer.hits ?? []) : null
  const key = request && JSON.stringify(request)
  const later = useLoad(request && ['nearest', request], async (signal) => ({ key, hits: (await api.search(await identified(request!), signal)).hits ?? [] }))
  return useMemo(() => {
    const hits = answer?.hits ?? []
    return later.data && later.data.key === key ? withNearest(hits, later.data.hits) : hits
  }, [answer, later.data, key])
}

type Answer = SearchAnswer & { to: SearchState; asked: SearchRequest }

interface ResultsProps {
  state: SearchState
  answer: Answer // the last answer stays while the next is on its way
  hits: SearchHit[]
  stale: boolean
  change: (c: Params, replace?: boolean) => void
  turn: (page: number) => void
}

function Results({ state, answer, hits, stale, change, turn }: ResultsProps) {
  const t = useText()
  const search = useQuery()
  const top = useRef<HTMLDivElement>(null)
  const shown = Math.min(answer.explain?.plan.top_k ?? state.size, answer.total.value - (answer.total.folded ?? 0))
  const { page, per } = answer.to
  const pages = Math.max(1, Math.ceil(shown / per))
  const beyond = shown > 0 && page > pages
  const from = (page - 1) * per
  useEffect(() => void showed(answer.query_id, answer.hits ?? [], from), [answer, from])
  const toPage = (page: number) => {
    turn(page)
    const head = top.current
    if (head && head.getBoundingClientRect().top < 0) head.scrollIntoView({ block: 'start' })
  }
  return (
    <div className={stale ? 'answer stale' : 'answer'} ref={top}>
      <Head answer={answer} from={from} relevant={<OnlyRelevant state={state} answer={answer} change={change} />} />
      {answer.did_you_mean ? (
        <p className="meant">
          {t('search.meant')} <button type="button" className="linkish" onClick={() => change({ q: answer.did_you_mean! })}>{answer.did_you_mean}</button>
        </p>
      ) : null}
      {(answer.degraded ?? []).length > 0 ? (
        <Notice title={<Term name="degraded">{t('search.degraded')}</Term>}>
          <ul>
            {(answer.degraded ?? []).map((d, i) => (
              <li key={i}>{t('search.degraded.item', { leg: legName(d.leg, t) + (d.knowledge_base ? ` (${d.knowledge_base})` : ''), reason: d.reason })}</li>
            ))}
          </ul>
        </Notice>
      ) : null}
      {answer.relaxed ? <Notice title={<Term name="minimum_match">{t('search.relaxed', { minimum: answer.relaxed })}</Term>} /> : null}
      {hits.length > 0 && answer.answerable !== null && answer.answerable < answering ? (
        <Notice title={t('search.unanswered')}>
          <p>{t('search.unanswered.about')}</p>
        </Notice>
      ) : null}
      {hits.length > 0 || beyond ? null : answer.empty === 'nothing_relevant' ? (
        <NothingRelevant nearest={() => change({ relevant: state.relevant ? null : '0' })} />
      ) : (
        <Empty answer={answer} filtered={state.filters.length + state.documents.length > 0} />
      )}
      {beyond ? <Beyond page={page} pages={pages} last={() => turn(pages)} /> : null}
      <h2 className="visually-hidden">{t('search.results')}</h2>
      <Legend hits={hits} />
      <MovingList className="hits" start={from + 1} answer={answer.query_id} about={aboutOf(answer.to)}>
        {hits.map((hit, i) => (
          <Hit
            key={`${hit.knowledge_base}/${hit.id}`}
            hit={hit}
            queryID={answer.query_id}
            position={from + i + 1}
            best={answer.max_score}
            query={answer.explain?.query}
            severalBases={Object.keys(answer.explain?.methods ?? {}).length > 1}
            to={documentAt(hit.knowledge_base, hit.document_id, search, { chunk: hit.id })}
            only={(document) => change({ doc: [document] })}
          />
        ))}
      </MovingList>
      {pages > 1 && !beyond ? (
        <nav className="pager" aria-label={t('search.page')}>
          <button type="button" className="button" aria-label={t('search.page.previous')} disabled={state.page <= 1} onClick={() => toPage(state.page - 1)}>
            <Icon name="left" />
            <span>{t('search.page.previous')}</span>
          </button>
          <span className="quiet">{t('search.page.of', { page: state.page, pages })}</span>
          <button type="button" className="button" aria-label={t('search.page.next')} disabled={state.page >= pages} onClick={() => toPage(state.page + 1)}>
            <span>{t('search.page.next')}</span>
            <Icon name="right" />
          </button>
        </nav>
      ) : null}
      <Missing request={answer.asked} />
    </div>
  )
}

/** What an answer is about beside how it is ranked. */
const aboutOf = ({ q, kb, page, per, filters, documents }: SearchState) => JSON.stringify([q, kb, page, per, filters, documents])

const WhyNot = later(() => import('../components/why-not'))
const Numbers = later(() => import('../components/numbers'))

/** Ways to ask for what one misses among the hits, and for what is behind them. */
function Missing({ request }: { request: SearchRequest }) {
  const t = useText()
  const [open, setOpen] = useState<'whynot' | 'numbers'>()
  const Asked = open === 'whynot' ? WhyNot : Numbers
  return (
    <p className="missing">
      <button type="button" className="linkish" onClick={() => setOpen('whynot')}>{t('whynot.ask')}</button>{' · '}
      <button type="button" className="linkish" onClick={() => setOpen('numbers')}>{t('numbers.ask')}</button>
      {open ? <Suspense fallback={null}><Asked request={request} close={() => setOpen(undefined)} /></Suspense> : null}
    </p>
  )
}

/** How many, how long, and how the question was read. */
function Head({ answer, from, relevant }: { answer: SearchAnswer; from: number; relevant: ReactNode }) {
  const { t, language } = useLanguage()
  const hits = answer.hits ?? []
  const values = { from: from + 1, to: from + hits.length, total: answer.total.value }
  return (
    <div className="head">
      <p role="status">
        {hits.length > 0 ? <strong>{t(answer.total.relation === 'gte' ? 'search.count.more' : 'search.count', values)}</strong> : null}
        <span className="tag">{answer.preset}</span>
        <span className="tag">{answer.engine}</span>
        {answer.cached ? <span className="tag">{t('search.cached')}</span> : null}
      </p>
      {relevant}
      <Timings answer={answer} />
      {answer.explain?.query ? (
        <details className="read">
          <summary>{t('search.read')}</summary>
          <QueryTerms query={answer.explain.query} />
          {answer.explain.known === undefined ? null : (
            <p className="quiet"><Term name="known">{t('search.read.known', { percent: percent(answer.explain.known) })}</Term></p>
          )}
          {answer.language ? <p className="quiet">{t('search.read.language', { language: languageName(answer.language, language) })}</p> : null}
          {(answer.explain.relevance ?? []).filter((r) => r.why).map((r) => (
            <p key={r.knowledge_base} className="quiet">{t('search.read.relevance', { base: r.knowledge_base, reason: r.why ?? '' })}</p>
          ))}
        </details>
      ) : null}
    </div>
  )
}

/** Leaves out what is not relevant. Known for the hits that were left out: how many. */
function OnlyRelevant({ state, answer, change }: Pick<ResultsProps, 'state' | 'answer' | 'change'>) {
  const t = useText()
  const { cut, plan } = answer.explain ?? {}
  const threshold = plan?.threshold
  const own = threshold === 'auto' || Boolean(threshold?.answerable || threshold?.relevance) // of the preset
  const hidden = (cut?.relevance ?? 0) + (cut?.answerable ?? 0)
  return (
    <div className="only">
      <label className="check small">
        <input type="checkbox" role="switch" checked={state.relevant ?? own}
          onChange={(e) => change({ relevant: e.target.checked ? '1' : state.relevant ? null : '0' })} />
        {t('search.relevant')}
      </label>
      {hidden > 0 && answer.total.value > 0 ? <span className="quiet small"><Term name="threshold">{t('search.relevant.hidden', { count: hidden })}</Term></span> : null}
    </div>
  )
}
