import { useEffect, useReducer, useRef, useState } from 'react'
import type { LibraryOutcome, LibraryQuery, SearchHit } from '../api/schema'
import { Select } from '../components/field'
import { Icon } from '../components/icons'
import { Link } from '../components/link'
import { Failure, Notice, Skeleton } from '../components/notice'
import { gradeName, JudgeCard } from '../components/evaluation/judge-card'
import { ListAgreement } from '../components/evaluation/list-agreement'
import { call } from '../lib/api'
import { useChoices } from '../lib/bases'
import { useJudgmentLists } from '../lib/evaluations'
import { useText } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { numberOf, useParams, usePlace } from '../lib/url'
import { actOf, after, gradedIn, openOf, type Act } from './judge-queue'
import { depths, keyOf, poolOf, queueOf, type Queue } from './judge-state'
import { single } from './search-state'
import '../styles/evaluate.css'
import '../styles/mappings.css'
import '../styles/playground.css'

/** One question and one hit at a time, into a judgment list. */
export default function JudgePage() {
  const t = useText()
  const { list = '' } = usePlace()
  const [params, change] = useParams()
  const choices = useChoices()
  const evaluation = params.get('evaluation') ?? ''
  const only = params.get('only') ?? ''
  const named = params.getAll('preset')
  const presets = named.length > 0 ? named : [...new Set([choices.data?.standard ?? '', ...single])].filter((p) => choices.data?.presets.includes(p))
  const queue = useLoad(choices.data ? ['queue', list, evaluation, only, ...presets] : null, (signal) => queueOf(list, { evaluation, presets, only }, signal))
  const error = choices.error ?? queue.error
  const toggle = (p: string, on: boolean) => change({ preset: on ? [...presets, p] : presets.filter((o) => o !== p), at: null }, true)
  return (
    <div className="page narrow">
      <p className="quiet small"><Link to="/evaluate?view=questions">{t('eval.view.questions')}</Link></p>
      <div className="page-head">
        <h1>{t('judge.title', { list: queue.data?.list.name || list })}</h1>
        <p>{t('judge.about')}</p>
      </div>
      {error ? <Failure error={error} again={queue.again} /> : null}
      {!queue.data && !error ? <Skeleton rows={2} /> : null}
      {queue.data && choices.data ? (
        <>
          <details className="pool small">
            <summary>{evaluation ? t('judge.pool.evaluation', { count: queue.data.queries.length }) : t('judge.pool', { presets: presets.join(', ') })}</summary>
            <div className="row">
              {evaluation ? <Link to={`/judge/${list}`}>{t('judge.pool.all')}</Link> : choices.data.presets.map((p) => (
                <label key={p} className="check"><input type="checkbox" checked={presets.includes(p)} onChange={(e) => toggle(p, e.target.checked)} />{p}</label>
              ))}
              <Select label={t('compare.depth')} value={params.get('k') ?? '10'} choose={(k) => change({ k: k === '10' ? null : k }, true)}
                options={depths.map((d) => ({ value: String(d), label: String(d) }))} />
            </div>
          </details>
          <Judging key={`${list} ${evaluation} ${only} ${presets.join()}`} queue={queue.data} depth={Math.round(numberOf(params, 'k', [1, 100], 10))}
            at={Math.round(numberOf(params, 'at', [0, 1_000_000], 0))} go={(at) => change({ at: at > 0 ? String(at) : null }, true)} />
          <Agreement id={list} />
        </>
      ) : null}
    </div>
  )
}

function Agreement({ id }: { id: string }) {
  const t = useText()
  const [open, setOpen] = useState(false)
  return (
    <details className="part" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{t('judge.agreement')}</summary>
      {open ? <Agreed id={id} /> : null}
    </details>
  )
}

function Agreed({ id }: { id: string }) {
  const lists = useJudgmentLists()
  const all = lists.data?.judgment_lists ?? []
  const list = all.find((l) => l.id === id)
  if (lists.error) return <Failure error={lists.error} again={lists.again} />
  return list ? <ListAgreement list={list} others={all} /> : <Skeleton rows={1} />
}

const judgeSlot = 'hybridge.judge'

interface JudgingProps {
  queue: Queue
  depth: number
  at: number // the question
  go: (at: number) => void
}

function Judging({ queue, depth, at, go }: JudgingProps) {
  const t = useText()
  const { list, queries } = queue
  const [done, tell] = useReducer(after, [])
  const [before] = useState(list.judgments) // what the list had when judging began
  const [note, setNote] = useState('')
  const [judge, setJudge] = useState(() => localStorage.getItem(judgeSlot) ?? '')
  const [error, setError] = useState<Error>()
  const [taken, setTaken] = useState<{ key: string; by: string }>() // a hit that somebody else has judged meanwhile
  const busy = useRef(false)
  const notes = useRef<HTMLInputElement>(null)
  const query = queries[at]
  const pool = usePool(queue, query, depth)
  usePool(queue, queries[at + 1], depth) // so that nobody waits for the next one
  const open = pool.data && openOf(pool.data.hits, done, at)
  const hit = open?.[0]
  const openKey = hit && query ? `${query.id} ${keyOf(hit)}` : ''
  const isTaken = taken !== undefined && taken.key === openKey
  const most = list.max_grade ?? 3
  const path = `/v1/judgments/${list.id}/judgments`
  useEffect(() => {
    if (query && open?.length === 0) go(at + 1)
  }, [query, open?.length, at, go])

  /** One call after the other, so that an undo never overtakes what it undoes. */
  const once = async (act: () => Promise<void>) => {
    if (busy.current) return
    busy.current = true
    await act().then(() => setError(undefined), setError)
    busy.current = false
  }
  const of = (h: SearchHit, id: string) => ({ query_id: id, knowledge_base: h.knowledge_base, chunk_id: h.id })
  const grade = (g: number) => once(async () => {
    if (!hit || !query) return
    const { failed, time } = await call<LibraryOutcome>('POST', path, { only_new: !isTaken, judgments: [
      { ...of(hit, query.id), grade: g, ...(note.trim() ? { note: note.trim() } : {}), ...(judge.trim() ? { judge: judge.trim() } : {}) }] })
    const refused = failed[0]
    if (refused?.code === 'conflict') return setTaken({ key: openKey, by: refused.detail })
    if (refused) throw new Error(refused.detail)
    tell({ name: 'done', done: { at, hit, grade: g, time } })
    setTaken(undefined)
    setNote('')
  })
  const skip = () => void (hit && tell({ name: 'done', done: { at, hit, grade: null } }))
  const undo = () => once(async () => {
    const last = done.at(-1)
    const asked = last && queries[last.at]
    if (!last || !asked) return
    if (last.grade !== null) await call('POST', `${path}/delete`, { judgments: [{ ...of(last.hit, asked.id), time: last.time }] })
    tell({ name: 'undone' })
    if (last.at === at) pool.again()
    else go(last.at)
  })
  useKeys(most, (act) => {
    if (act.name === 'grade') void grade(act.grade)
    else ({ skip, undo: () => void undo(), note: () => notes.current?.focus() })[act.name]()
  })
  const judged = gradedIn(done)
  const undoing = (
    <button type="button" className="button" disabled={done.length === 0} onClick={() => void undo()}>{t('judge.undo')} <kbd>U</kbd></button>
  )
  return (
    <section className="part judging" aria-label={t('judge.queue')}>
      <div className="row between">
        <p className="quiet small" role="status">
          {query ? t('judge.progress', { at: at + 1, all: queries.length, left: open?.length ?? 0, judged: before + judged }) : t('judge.progress.done', { all: queries.length, judged: before + judged })}
        </p>
        <label className="row small judge-name">
          {t('judge.name')}
          <input className="input" value={judge} maxLength={60} autoComplete="off" placeholder={t('judge.name.example')}
            onChange={(e) => (setJudge(e.target.value), localStorage.setItem(judgeSlot, e.target.value))} />
        </label>
      </div>
      <progress aria-label={t('judge.queue')} value={Math.min(at, queries.length)} max={Math.max(1, queries.length)} />
      {error ? <Failure error={error} /> : null}
      {pool.error ? <Failure error={pool.error} again={pool.again} /> : null}
      {query ? <h2 className="asked">{query.text}</h2> : <Finished queue={queue} undo={undoing} restart={() => (tell({ name: 'begun' }), go(0))} />}
      {query && !hit && !pool.error ? <Skeleton rows={2} /> : null}
      {query && hit ? (
        <>
          <JudgeCard key={keyOf(hit)} hit={hit} />
          {isTaken ? <Notice title={t('judge.taken')}><p>{taken.by}</p><p>{t('judge.taken.about')}</p></Notice> : null}
          <div className="row grading" role="group" aria-label={t('compare.judge')}>
            {Array.from({ length: most + 1 }, (_, g) => (
              <button key={g} type="button" className={`button grade-${g === 0 ? 'none' : g * 2 > most ? 'high' : 'some'}`} onClick={() => void grade(g)}>
                <kbd>{g}</kbd> {gradeName(t, g, most)}
              </button>
            ))}
            <button type="button" className="button" onClick={skip}>{t('judge.skip')} <kbd>S</kbd></button>
            {undoing}
          </div>
          <label className="field">
            <span>{t('judge.note')} <kbd>N</kbd></span>
            <input ref={notes} className="input" value={note} maxLength={300} autoComplete="off" onChange={(e) => setNote(e.target.value)}
              onKeyDown={(e) => (e.key === 'Escape' || (e.key === 'Enter' && !e.nativeEvent.isComposing)) && e.currentTarget.blur()} />
          </label>
        </>
      ) : null}
    </section>
  )
}

/** The hits of a question; those of the one before do not stand in for them. */
function usePool(queue: Queue, query: LibraryQuery | undefined, depth: number) {
  const loaded = useLoad(query ? ['pool', queue.list.id, query.id, depth, queue.columns] : null, (signal) => poolOf(queue, query!, depth, signal))
  return { ...loaded, data: loaded.data?.query === query?.id ? loaded.data : undefined }
}

function Finished({ queue: { list, queries }, undo, restart }: { queue: Queue; undo: React.ReactNode; restart: () => void }) {
  const t = useText()
  return (
    <div className="blank" role="status">
      <h2>{queries.length === 0 ? t('judge.nothing') : t('judge.all')}</h2>
      <p>{t('judge.all.about')}</p>
      <div className="row center">
        <Link to={`/evaluate?view=evaluations&set=${list.query_set}&list=${list.id}`} className="button primary">{t('eval.list.measure')}</Link>
        <button type="button" className="button" onClick={restart}><Icon name="again" />{t('judge.again')}</button>
        {undo}
      </div>
    </div>
  )
}

/** Keys that act wherever nothing is being typed. */
function useKeys(most: number, act: (act: Act) => void) {
  const latest = useRef({ most, act })
  latest.current = { most, act }
  useEffect(() => {
    const hear = (e: KeyboardEvent) => {
      const at = e.target instanceof Element ? e.target : null
      if (e.ctrlKey || e.metaKey || e.altKey || e.repeat || at?.closest('input, textarea, select, [role="dialog"]')) return
      const meant = actOf(e.key, latest.current.most)
      if (meant?.name === 'note') e.preventDefault() // the letter is not typed into the note
      if (meant) latest.current.act(meant)
    }
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [])
}
