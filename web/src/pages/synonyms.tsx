import { Suspense, useEffect, useRef, useState } from 'react'
import type { SynonymHistory, SynonymProblems, SynonymsVersion } from '../api/schema'
import { Editor } from '../components/editor'
import { Field, Select } from '../components/field'
import { Aside, isOvertaken, Newer } from '../components/newer'
import { Failure, Notice, Skeleton } from '../components/notice'
import { Effects } from '../components/synonyms/effects'
import type { DifferenceProps } from '../components/synonyms/shown'
import { Trial } from '../components/synonyms/trial'
import { Term } from '../components/term'
import { Unsaved } from '../components/unsaved'
import { Versions } from '../components/versions'
import { call } from '../lib/api'
import { useChoices } from '../lib/bases'
import type { Problem } from '../lib/editing'
import { useText } from '../lib/i18n'
import { later } from '../lib/later'
import { useLoad } from '../lib/load'
import { useParams } from '../lib/url'
import '../styles/mappings.css'

const everybody = 'global'

export default function SynonymsPage() {
  const t = useText()
  const [params, setParams] = useParams()
  const choices = useChoices()
  const set = params.get('kb') ?? everybody
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('syn.title')}</h1>
        <p>{t('syn.about')}</p>
      </div>
      {choices.error ? <Failure error={choices.error} again={choices.again} /> : null}
      {choices.data ? (
        <>
          <div className="choose">
            <Select label={t('syn.set')} value={set} choose={(v) => setParams({ kb: v === everybody ? null : v })}
              options={[{ value: everybody, label: t('syn.global') }, ...choices.data.bases.map((b) => ({ value: b.id, label: b.name || b.id }))]} />
          </div>
          <Rules key={set} set={set} bases={set === everybody ? choices.data.bases.map((b) => b.id) : [set]} />
        </>
      ) : null}
    </div>
  )
}

const Difference = later<DifferenceProps>(() => import('../components/synonyms/difference'))

interface RulesProps {
  set: string
  bases: string[] // in which they are tried
}

function Rules({ set, bases }: RulesProps) {
  const t = useText()
  const path = `/v1/synonyms/${encodeURIComponent(set)}`
  const current = useLoad(['synonyms', set], (signal) => call<SynonymsVersion>('GET', path, undefined, signal))
  const history = useLoad(['synonym history', set], (signal) => call<SynonymHistory>('GET', `${path}/versions`, undefined, signal))
  const [text, setText] = useState<string>()
  const [error, setError] = useState<Error>()
  const [said, setSaid] = useState('')
  const [aside, setAside] = useState<string>() // what a newer version was loaded over
  const [compared, setCompared] = useState<number>()
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => setText(current.data?.text ?? (current.data ? '' : undefined)), [current.data])
  const dirty = text !== undefined && text !== (current.data?.text ?? '')
  const problems = useProblems(path, dirty ? text : undefined)
  const done = (v: SynonymsVersion) => {
    setError(undefined)
    setAside(undefined)
    setSaid(t('syn.saved', { version: v.version, rules: v.rules }))
    current.again()
    history.again()
  }
  const failed = (e: Error) => {
    setError(e)
    if (isOvertaken(e)) history.again()
  }
  const save = (base = current.data?.version ?? 0) => {
    const comment = form.current ? String(new FormData(form.current).get('comment') ?? '').trim() : ''
    const body = { text: text ?? '', base_version: base, ...(comment ? { comment } : {}) }
    return call<SynonymsVersion>('PUT', path, body).then((v) => (done(v), true), (e: Error) => (failed(e), false))
  }
  const rollback = (version: number) => call<SynonymsVersion>('POST', `${path}/rollback`, { version, base_version: current.data?.version ?? 0 }).then(done, failed)
  const load = () => {
    if (dirty) setAside(text)
    setError(undefined)
    current.again()
  }
  if (current.error) return <Failure error={current.error} again={current.again} />
  if (text === undefined || !current.data) return <Skeleton rows={3} />
  const version = current.data.version
  const versions = history.data?.versions ?? []
  return (
    <div className="synonyms">
      {dirty ? <Unsaved save={() => save()} /> : null}
      <div className="part">
        {said ? <Notice title={said} tone="good" /> : null}
        {aside === undefined ? null : <Aside back={() => (setText(aside), setAside(undefined))} />}
        {isOvertaken(error) ? <Newer error={error} path={path} load={load} over={dirty ? (base) => void save(base) : undefined} /> : error ? <Failure error={error} /> : null}
        <form ref={form} onSubmit={(e) => (e.preventDefault(), void save())}>
          <Editor label={<Term name="synonyms">{t('syn.rules')}</Term>} name={t('syn.rules')} hint={t('syn.rules.hint')} language="synonyms"
            value={text} change={setText} problems={problems} />
          <Field label={t('syn.comment')}>{(id) => <input id={id} name="comment" className="input" maxLength={300} autoComplete="off" />}</Field>
          <p className="row">
            <button type="submit" className="button primary" disabled={!dirty}>{t('syn.save')}</button>
            <span className="tag">{version > 0 ? t('syn.version', { version }) : t('syn.version.none')}</span>
            {dirty ? <span className="tag warn">{t('syn.changed')}</span> : null}
            {dirty && version > 0 ? <button type="button" className="button compact" onClick={() => setCompared(version)}>{t('syn.diff.show')}</button> : null}
          </p>
        </form>
      </div>
      <div className="part">
        <Trial path={path} draft={dirty ? text : undefined} />
        <Versions list={versions} current={version} title={<Term name="synonym_versions">{t('syn.history')}</Term>} about={(v) => t('syn.rulecount', { count: v.rules })}
          rollback={(v) => void rollback(v)} compare={setCompared} />
      </div>
      <div className="part whole">
        {compared === undefined ? null : (
          <Suspense fallback={<Skeleton rows={1} />}>
            <Difference key={compared} path={path} versions={versions} from={compared} draft={dirty ? text : undefined} close={() => setCompared(undefined)} />
          </Suspense>
        )}
        <Effects path={path} bases={bases} text={text} />
      </div>
    </div>
  )
}

const none: Problem[] = []

/** What the gateway would refuse of a draft, asked while it is written. */
function useProblems(path: string, draft: string | undefined): Problem[] {
  const found = useLoad(draft === undefined ? null : ['synonym problems', path, draft],
    (signal) => call<SynonymProblems>('POST', `${path}/check`, { text: draft }, signal), { delay: 350 })
  return found.data?.problems ?? none
}
