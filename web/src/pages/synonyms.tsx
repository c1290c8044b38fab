import { useEffect, useRef, useState } from 'react'
import type { SynonymHistory, SynonymTrial, SynonymsApplied, SynonymsVersion } from '../api/schema'
import { Field, Select } from '../components/field'
import { Failure, Notice, Skeleton } from '../components/notice'
import { Term } from '../components/term'
import { Unsaved } from '../components/unsaved'
import { Versions } from '../components/versions'
import { call } from '../lib/api'
import { useChoices } from '../lib/bases'
import { useText } from '../lib/i18n'
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
          <Editor key={set} set={set} />
        </>
      ) : null}
    </div>
  )
}

function Editor({ set }: { set: string }) {
  const t = useText()
  const path = `/v1/synonyms/${encodeURIComponent(set)}`
  const current = useLoad(['synonyms', set], (signal) => call<SynonymsVersion>('GET', path, undefined, signal))
  const history = useLoad(['synonym history', set], (signal) => call<SynonymHistory>('GET', `${path}/versions`, undefined, signal))
  const [text, setText] = useState<string>()
  const [error, setError] = useState<Error>()
  const [said, setSaid] = useState('')
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => setText(current.data?.text ?? (current.data ? '' : undefined)), [current.data])
  const done = (v: SynonymsVersion) => {
    setError(undefined)
    setSaid(t('syn.saved', { version: v.version, rules: v.rules }))
    current.again()
    history.again()
  }
  const save = () => {
    const comment = form.current ? String(new FormData(form.current).get('comment') ?? '').trim() : ''
    const body = { text: text ?? '', base_version: current.data?.version ?? 0, ...(comment ? { comment } : {}) }
    return call<SynonymsVersion>('PUT', path, body).then((v) => (done(v), true), (e: Error) => (setError(e), false))
  }
  const rollback = (version: number) => call<SynonymsVersion>('POST', `${path}/rollback`, { version }).then(done, setError)
  if (current.error) return <Failure error={current.error} again={current.again} />
  if (text === undefined || !current.data) return <Skeleton rows={3} />
  const version = current.data.version
  const dirty = text !== (current.data.text ?? '')
  return (
    <div className="synonyms">
      {dirty ? <Unsaved save={save} /> : null}
      <div className="part">
        {said ? <Notice title={said} tone="good" /> : null}
        {error ? <Failure error={error} /> : null}
        <form ref={form} onSubmit={(e) => (e.preventDefault(), void save())}>
          <Field label={<Term name="synonyms">{t('syn.rules')}</Term>} hint={t('syn.rules.hint')}>
            {(id, hint) => <textarea id={id} className="input" spellCheck={false} value={text} aria-describedby={hint} onChange={(e) => setText(e.target.value)} />}
          </Field>
          <Field label={t('syn.comment')}>{(id) => <input id={id} name="comment" className="input" maxLength={300} autoComplete="off" />}</Field>
          <p className="row">
            <button type="submit" className="button primary" disabled={!dirty}>{t('syn.save')}</button>
            <span className="tag">{version > 0 ? t('syn.version', { version }) : t('syn.version.none')}</span>
            {dirty ? <span className="tag warn">{t('syn.changed')}</span> : null}
          </p>
        </form>
      </div>
      <div className="part">
        <Trial path={path} draft={dirty ? text : undefined} />
        <Versions list={history.data?.versions ?? []} current={version} title={<Term name="synonym_versions">{t('syn.history')}</Term>} about={(v) => t('syn.rulecount', { count: v.rules })} rollback={(v) => void rollback(v)} />
      </div>
    </div>
  )
}

function Trial({ path, draft }: { path: string; draft?: string }) {
  const t = useText()
  const [trial, setTrial] = useState<SynonymTrial>()
  const [error, setError] = useState<Error>()
  const go = (query: string) =>
    call<SynonymTrial>('POST', `${path}/try`, { query, ...(draft === undefined ? {} : { text: draft }) }).then(
      (r) => (setTrial(r), setError(undefined)), setError)
  return (
    <section className="trial">
      <form className="row" onSubmit={(e) => (e.preventDefault(), void go(String(new FormData(e.currentTarget).get('q') ?? '')))}>
        <Field label={t('syn.try')}>{(id) => <input id={id} name="q" className="input" required autoComplete="off" />}</Field>
        <button type="submit" className="button">{t('syn.try.go')}</button>
      </form>
      {error ? <Failure error={error} /> : null}
      {trial ? (
        <div aria-live="polite" className="trial">
          <Applied title={t('syn.try.current')} list={trial.current ?? []} />
          {trial.draft ? <Applied title={t('syn.try.draft')} list={trial.draft} /> : null}
        </div>
      ) : null}
    </section>
  )
}

function Applied({ title, list }: { title: string; list: SynonymsApplied[] }) {
  const t = useText()
  return (
    <div>
      <h3 className="label">{title}</h3>
      {list.length === 0 ? <p className="quiet small">{t('syn.try.none')}</p> : (
        <ul className="chips">
          {list.map((a, i) => (
            <li key={i} className="tag" title={a.rule}>
              {t('play.synonym', { source: (a.source ?? []).join(' '), target: (a.target ?? []).join(' ') })} {a.weight.toFixed(2)}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
