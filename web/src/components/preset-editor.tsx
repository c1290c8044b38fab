import { useEffect, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { PresetHistory, PresetsDefinition, PresetVersion } from '../api/schema'
import { ApiError, call } from '../lib/api'
import { useText } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { definitionOf, lineOf, textOf } from '../lib/preset-text'
import { shareOf, withMember } from '../lib/presets'
import { navigate } from '../lib/url'
import { Confirm } from './confirm'
import { Editor } from './editor'
import { Field, Select } from './field'
import { Aside, isOvertaken, Newer } from './newer'
import { Failure, Notice } from './notice'
import { PresetTrial } from './preset-trial'
import { Unsaved } from './unsaved'
import { Versions } from './versions'

interface Props {
  name: string | null // null: a new one
  version: number // in use; 0: none yet
  unused?: string
  begun: PresetsDefinition
  bases: string[] // built-in ones
  done: () => void
}

const path = (name: string) => `/v1/presets/${encodeURIComponent(name)}`

/** A saved preset as a form and as YAML, which say the same; tried before it is saved. */
export function PresetEditor({ name, version, unused, begun, bases, done }: Props) {
  const t = useText()
  const first = useMemo(() => textOf(begun), [begun])
  const [text, setText] = useState(first)
  useEffect(() => setText(first), [first]) // another version is in use
  const [error, setError] = useState<Error>()
  const [said, setSaid] = useState('')
  const [aside, setAside] = useState<string>() // what a newer version was loaded over
  const form = useRef<HTMLFormElement>(null)
  const read = useMemo(() => definitionOf(text), [text])
  const problems = useMemo(() => {
    const refused = error instanceof ApiError && error.field && !read.problems.length ? [{ line: lineOf(text, error.field), detail: error.detail }] : []
    return [...read.problems, ...refused]
  }, [read, error, text])
  const dirty = name === null || text !== first
  const save = async (base = version) => {
    const given = new FormData(form.current ?? undefined)
    const [named, comment] = [name ?? String(given.get('name') ?? '').trim(), String(given.get('comment') ?? '').trim()]
    if (!read.definition || !named) return false
    try {
      const v = await call<PresetVersion>('PUT', path(named), { definition: read.definition, base_version: base, ...(comment ? { comment } : {}) })
      setError(undefined)
      setAside(undefined)
      setSaid(t('presets.saved', { version: v.version ?? 1 }))
      setText(textOf(v.definition ?? read.definition))
      done()
      if (name === null) navigate(`/presets?name=${encodeURIComponent(named)}`, true)
      return true
    } catch (e) {
      setError(e as Error)
      return false
    }
  }
  const load = () => {
    if (dirty) setAside(text)
    setError(undefined)
    done()
  }
  const gone = () => {
    flushSync(() => setText(first)) // what was not saved went with it
    done()
    navigate('/presets')
  }
  return (
    <section className="part preset">
      {name !== null && dirty ? <Unsaved save={() => save()} /> : null}
      <h2>{name ?? t('presets.new')}</h2>
      {unused ? <Notice title={t('presets.unused')}><p>{unused}</p></Notice> : null}
      {said ? <Notice title={said} tone="good" /> : null}
      {aside === undefined ? null : <Aside back={() => (setText(aside), setAside(undefined))} />}
      {name !== null && isOvertaken(error) ? (
        <Newer error={error} path={path(name)} load={load} over={dirty && read.definition ? (base) => void save(base) : undefined} />
      ) : error ? <Failure error={error} /> : null}
      <form ref={form} onSubmit={(e) => (e.preventDefault(), void save())}>
        {name === null ? <Field label={t('presets.name')}>{(id) => <input id={id} name="name" className="input" required maxLength={64} autoComplete="off" />}</Field> : null}
        {read.definition ? <Members definition={read.definition} bases={bases} set={(d) => setText(textOf(d))} /> : null}
        <Editor label={t('presets.text')} name={t('presets.text')} hint={t('presets.text.hint')} language="yaml" value={text} change={setText} problems={problems} />
        <Field label={t('syn.comment')}>{(id) => <input id={id} name="comment" className="input" maxLength={300} autoComplete="off" />}</Field>
        <p className="row">
          <button type="submit" className="button primary" disabled={!dirty || !read.definition}>{t('syn.save')}</button>
          {version > 0 ? <span className="tag">{t('syn.version', { version })}</span> : null}
          {name !== null && dirty ? <span className="tag warn">{t('syn.changed')}</span> : null}
          {name !== null ? <Remove name={name} version={version} gone={gone} fail={setError} /> : null}
        </p>
      </form>
      {read.definition ? <PresetTrial draft={read.definition} current={version > 0 && dirty ? name : null} /> : null}
      {name !== null ? <History key={version} name={name} current={version} done={done} fail={setError} /> : null}
    </section>
  )
}

/** What most presets change, as a form. */
function Members({ definition, bases, set }: { definition: PresetsDefinition; bases: string[]; set: (d: PresetsDefinition) => void }) {
  const t = useText()
  const share = shareOf(definition)
  const weigh = (percent: string) => set(withMember(definition, 'weights', percent === '' ? null : { text: Number(percent) / 100, vector: (100 - Number(percent)) / 100 }))
  const number = (name: 'top_k' | 'candidates' | 'rrf_k', label: string, [low, high]: [number, number]) => (
    <Field label={label}>
      {(id) => (
        <input id={id} type="number" className="input" min={low} max={high} value={definition[name] ?? ''} placeholder={t('presets.ofbase')}
          onChange={(e) => set(withMember(definition, name, e.target.value === '' ? null : Number(e.target.value)))} />
      )}
    </Field>
  )
  return (
    <>
      <div className="fields">
        <Select label={t('presets.base')} value={definition.base} choose={(base) => set({ ...definition, base })}
          options={[...new Set([definition.base, ...bases])].map((b) => ({ value: b, label: b }))} />
        <Field label={t('presets.words')}>
          {(id) => (
            <input id={id} type="number" className="input" min={0} max={100} value={share === null ? '' : Math.round(share * 100)}
              placeholder={definition.weights ? t('presets.injson') : t('presets.ofbase')} onChange={(e) => weigh(e.target.value)} />
          )}
        </Field>
        {number('top_k', t('presets.topk'), [1, 10000])}
        {number('candidates', t('presets.candidates'), [1, 10000])}
        {definition.base === 'rrf' ? number('rrf_k', t('presets.rrfk'), [1, 1000]) : null}
      </div>
      <label className="check">
        <input type="checkbox" checked={definition.threshold === 'auto'} onChange={(e) => set(withMember(definition, 'threshold', e.target.checked ? 'auto' : null))} />
        {t('search.relevant')}
      </label>
      <Field label={t('presets.description')}>
        {(id) => <input id={id} className="input" maxLength={300} value={definition.description ?? ''} onChange={(e) => set(withMember(definition, 'description', e.target.value))} />}
      </Field>
    </>
  )
}

function Remove({ name, version, gone, fail }: { name: string; version: number; gone: () => void; fail: (e: Error) => void }) {
  const t = useText()
  const remove = () => call('DELETE', `${path(name)}?base_version=${version}`).then(gone, fail)
  return <Confirm label={t('presets.delete')} name={t('presets.delete.name', { name })} about={t('presets.delete.about')} act={remove} tone="danger" />
}

function History({ name, current, done, fail }: { name: string; current: number; done: () => void; fail: (e: Error) => void }) {
  const history = useLoad(['preset history', name, current], (signal) => call<PresetHistory>('GET', `${path(name)}/versions`, undefined, signal))
  const rollback = (version: number) => void call('POST', `${path(name)}/rollback`, { version, base_version: current }).then(done, fail)
  return <Versions list={history.data?.versions ?? []} current={current} rollback={rollback} />
}
