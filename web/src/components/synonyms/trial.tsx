import { useState } from 'react'
import type { SynonymsApplied, SynonymTrial } from '../../api/schema'
import { call } from '../../lib/api'
import { useText } from '../../lib/i18n'
import { Field } from '../field'
import { Failure } from '../notice'

/** What the rules do to the words of a question. */
export function Trial({ path, draft }: { path: string; draft?: string }) {
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
  return (
    <div>
      <h3 className="label">{title}</h3>
      <Synonyms list={list} />
    </div>
  )
}

/** Synonyms that are added to a question; those that others have not are marked. */
export function Synonyms({ list, besides }: { list: SynonymsApplied[]; besides?: SynonymsApplied[] }) {
  const t = useText()
  const said = (a: SynonymsApplied) => `${t('play.synonym', { source: (a.source ?? []).join(' '), target: (a.target ?? []).join(' ') })} ${a.weight.toFixed(2)}`
  const known = new Set(besides?.map(said))
  if (list.length === 0) return <p className="quiet small">{t('syn.try.none')}</p>
  return (
    <ul className="chips">
      {list.map((a, i) => <li key={i} className={`tag${besides && !known.has(said(a)) ? ' good' : ''}`} title={a.rule}>{said(a)}</li>)}
    </ul>
  )
}
