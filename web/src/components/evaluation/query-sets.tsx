import { useState } from 'react'
import type { LibraryJudgmentList, LibraryQuerySet, Queries } from '../../api/schema'
import { call } from '../../lib/api'
import type { Choices } from '../../lib/bases'
import { useText, type Key } from '../../lib/i18n'
import { useLoad } from '../../lib/load'
import { idFrom } from '../../lib/queries'
import { Confirm } from '../confirm'
import { Field } from '../field'
import { Icon } from '../icons'
import { Link } from '../link'
import { Failure, Skeleton } from '../notice'
import { QuestionsDialog } from './questions-dialog'

interface Props {
  choices: Choices
  sets: LibraryQuerySet[]
  lists: LibraryJudgmentList[]
  changed: () => void
}

/** The questions that there are, and who judged them. */
export function SetsOfQuestions({ choices, sets, lists, changed }: Props) {
  const t = useText()
  const [making, setMaking] = useState(false)
  return (
    <section className="part">
      <div className="row between">
        <p className="quiet">{t('eval.sets.about')}</p>
        <button type="button" className="button primary" onClick={() => setMaking(true)}><Icon name="plus" />{t('eval.set.new')}</button>
      </div>
      {sets.length === 0 ? (
        <div className="blank"><h2>{t('eval.sets.none')}</h2><p>{t('eval.sets.none.about')}</p></div>
      ) : null}
      <ul className="cards">
        {sets.map((set) => (
          <SetOfQuestions key={set.id} choices={choices} set={set} lists={lists.filter((l) => l.query_set === set.id)} changed={changed} />
        ))}
      </ul>
      {making ? <QuestionsDialog choices={choices} close={() => setMaking(false)} done={() => (setMaking(false), changed())} /> : null}
    </section>
  )
}

function SetOfQuestions({ choices, set, lists, changed }: { choices: Choices; set: LibraryQuerySet; lists: LibraryJudgmentList[]; changed: () => void }) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const [adding, setAdding] = useState(false)
  const [error, setError] = useState<Error>()
  const act = (what: Promise<unknown>) => what.then(() => setError(undefined), setError).then(changed)
  const name = set.name || set.id
  return (
    <li className="card padded part">
      <div className="row">
        <h2>{name}</h2>
        <span className="quiet small">{t('eval.set.count', { count: set.queries })}</span>
        {(set.knowledge_bases ?? []).map((kb) => <span key={kb} className="tag">{kb}</span>)}
        <span className="row end">
          <button type="button" className="button compact" onClick={() => setAdding(true)}><Icon name="plus" />{t('eval.set.add')}</button>
          <Confirm label={t('bases.delete')} name={t('eval.set.delete', { name })} tone="danger compact"
            about={t('eval.set.delete.about', { count: set.queries, lists: lists.length })} act={() => act(call('DELETE', `/v1/query-sets/${set.id}`))} />
        </span>
      </div>
      {error ? <Failure error={error} /> : null}
      <ul className="lists">
        {lists.map((list) => <List key={list.id} list={list} act={act} />)}
      </ul>
      <NewList set={set.id} lists={lists} act={act} />
      <details onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary>{t('eval.set.show')}</summary>
        {open ? <Questions set={set.id} count={set.queries} /> : null}
      </details>
      {adding ? <QuestionsDialog choices={choices} set={set} close={() => setAdding(false)} done={() => (setAdding(false), changed())} /> : null}
    </li>
  )
}

type Act = (what: Promise<unknown>) => Promise<void>

function List({ list, act }: { list: LibraryJudgmentList; act: Act }) {
  const t = useText()
  const name = list.name || list.id
  return (
    <li>
      <strong>{name}</strong>
      <span className="quiet">{t('eval.list.count', { count: list.judgments })}</span>
      {list.source && list.source !== 'people' ? <span className="tag warn">{t(`eval.list.source.${list.source}` as Key)}</span> : null}
      <span className="row end">
        {list.source && list.source !== 'people' ? null : (
          <Link to={`/judge/${list.id}`} className="button compact" aria-label={t('eval.list.judge.of', { name })}>{t('eval.list.judge')}</Link>
        )}
        <Link to={`/evaluate?set=${list.query_set}&list=${list.id}`} className="button compact" aria-label={t('eval.list.measure.of', { name })}>{t('eval.list.measure')}</Link>
        <Confirm label={t('bases.delete')} name={t('eval.list.delete', { name })} tone="danger compact"
          about={t('eval.list.delete.about', { count: list.judgments })} act={() => act(call('DELETE', `/v1/judgments/${list.id}`))} />
      </span>
    </li>
  )
}

/** Makes a list of the grades of one judge, or of some who share it. */
function NewList({ set, lists, act }: { set: string; lists: LibraryJudgmentList[]; act: Act }) {
  const t = useText()
  const [name, setName] = useState('')
  const plain = name.trim()
  const taken = (id: string) => lists.some((l) => l.id === id)
  const make = () => {
    const wanted = idFrom(`${set}-${plain}`)
    const id = taken(wanted) ? `${wanted.slice(0, 60)}-${lists.length}` : wanted
    void act(call('PUT', `/v1/judgments/${id}`, { query_set: set, name: plain, base_version: 0 })).then(() => setName(''))
  }
  return (
    <form className="new-list" onSubmit={(e) => (e.preventDefault(), plain && make())}>
      <Field label={t('eval.list.new')}>
        {(id) => <input id={id} className="input" value={name} maxLength={60} autoComplete="off" placeholder={t('eval.list.new.example')} onChange={(e) => setName(e.target.value)} />}
      </Field>
      <button type="submit" className="button" disabled={!plain}>{t('eval.list.make')}</button>
    </form>
  )
}

const shown = 200

function Questions({ set, count }: { set: string; count: number }) {
  const t = useText()
  const page = useLoad(['queries', set, count], (signal) => call<Queries>('GET', `/v1/query-sets/${set}/queries?limit=${shown}`, undefined, signal))
  if (page.error) return <Failure error={page.error} again={page.again} />
  if (!page.data) return <Skeleton rows={1} />
  return (
    <ol className="questions small">
      {page.data.queries.map((q) => (
        <li key={q.id}>{q.text} {q.unanswerable ? <span className="tag">{t('eval.set.unanswerable')}</span> : null}</li>
      ))}
      {page.data.next ? <li className="quiet">{t('eval.set.further', { count: count - shown })}</li> : null}
    </ol>
  )
}
