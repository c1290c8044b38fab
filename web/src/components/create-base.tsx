import { useState, type ReactNode } from 'react'
import type { CatalogChoice } from '../api/schema'
import { call } from '../lib/api'
import { useText } from '../lib/i18n'
import { analyzers, formulas, given, vectorIndexes } from '../lib/schema'
import { Modal } from './base-dialogs'
import { Field, Select } from './field'
import { Failure } from './notice'
import { Term } from './term'

/** The request that the form stands for; what was left open is left out. */
function specOf(form: FormData, engine: string) {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const others = form.getAll('also').map(String)
  const dimensions = text('dimensions')
  return {
    id: text('id'),
    ...given({
      name: text('name'), kind: text('kind'), embedding_model: text('model'), vector_index: text('vector_index'),
      analyzer: text('analyzer'), bm25: text('bm25'), shared: form.get('shared') ? true : undefined,
      dimensions: dimensions === '' ? undefined : Number(dimensions),
      vector_fields: form.get('title_vector') ? [{ name: 'title_vector', source: 'title' }] : undefined,
      attach: text('index') ? { index: text('index'), ...given({ layout: text('layout') }) } : undefined,
      ...(others.length > 0 ? { engines: [engine, ...others] } : { engine }),
    }),
  }
}

export function CreateBase({ open, close, engines, done }: { open: boolean; close: () => void; engines: CatalogChoice[]; done: (name: string) => void }) {
  const t = useText()
  const [engine, setEngine] = useState('')
  const [kind, setKind] = useState('chunks')
  const [error, setError] = useState<Error>()
  const all = engines.map((e) => e.name)
  const standard = engines.find((e) => e.default)?.name ?? ''
  const submit = async (form: FormData) => {
    const spec = specOf(form, engine)
    try {
      await call('POST', '/v1/knowledge-bases', spec)
      setError(undefined)
      done(String(form.get('name') ?? '').trim() || spec.id)
    } catch (e) {
      setError(e as Error)
    }
  }
  return (
    <Modal title={t('bases.create.title')} open={open} close={close}>
      <form onSubmit={(e) => (e.preventDefault(), void submit(new FormData(e.currentTarget)))}>
        {error ? <Failure error={error} /> : null}
        <Field label={t('bases.id')} hint={t('bases.id.hint')}>
          {(id, hint) => <input id={id} name="id" className="input" required maxLength={128} autoComplete="off" spellCheck={false} aria-describedby={hint} autoFocus />}
        </Field>
        <Entry name="name" label={t('bases.name')} />
        <Select label={<Term name="engine">{t('bases.engine')}</Term>} value={engine} choose={setEngine}
          options={[{ value: '', label: t('bases.engine.default', { engine: standard }) }, ...all.map((e) => ({ value: e, label: e }))]} />
        {engine && all.length > 1 ? <AlsoOn key={engine} engines={all.filter((e) => e !== engine)} /> : null}
        <Choice name="kind" label={<Term name="kind">{t('bases.kind')}</Term>} options={[['chunks', t('bases.kind.chunks')], ['qa', t('bases.kind.qa')]]} choose={setKind} />
        <Field label={<Term name="dimensions">{t('bases.dimensions')}</Term>} hint={t('bases.dimensions.hint')}>
          {(id, hint) => <input id={id} name="dimensions" className="input" type="number" min="0" max="4096" inputMode="numeric" aria-describedby={hint} />}
        </Field>
        {kind === 'chunks' ? <TitleVector /> : null}
        <More key={`more ${engine}`} engine={engine} />
        <p className="row end">
          <button type="button" className="button" onClick={close}>{t('app.cancel')}</button>
          <button type="submit" className="button primary">{t('bases.create')}</button>
        </p>
      </form>
    </Modal>
  )
}

/** The other engines that hold the same chunks. */
function AlsoOn({ engines }: { engines: string[] }) {
  const t = useText()
  return (
    <fieldset className="also">
      <legend>{t('bases.also')}</legend>
      <p className="row">
        {engines.map((e) => (
          <label key={e} className="check"><input type="checkbox" name="also" value={e} />{e}</label>
        ))}
      </p>
      <p className="hint">{t('bases.also.hint')}</p>
    </fieldset>
  )
}

/** The further vector field that most have a use for. */
function TitleVector() {
  const t = useText()
  return (
    <div className="field">
      <label className="check"><input type="checkbox" name="title_vector" aria-describedby="title-vector-hint" />{t('bases.title_vector')}</label>
      <p id="title-vector-hint" className="hint">{t('bases.title_vector.hint')}</p>
    </div>
  )
}

/** What the chosen engine leaves to choose; unnamed, the gateway decides. */
function More({ engine }: { engine: string }) {
  const t = useText()
  const plain = (values: string[] = []): [string, string][] => [['', t('bases.default')], ...values.map((v): [string, string] => [v, v])]
  return (
    <details>
      <summary>{t('bases.more')}</summary>
      <div className="fields">
        <Entry name="model" label={<Term name="embedding">{t('bases.model')}</Term>} hint={t('bases.model.hint')} />
        {vectorIndexes[engine] ? <Choice name="vector_index" label={t('map.vector_index')} options={plain(vectorIndexes[engine])} /> : null}
        {analyzers[engine] ? <Choice name="analyzer" label={<Term name="analyzer">{t('bases.analyzer')}</Term>} options={plain(analyzers[engine])} /> : null}
        {formulas[engine] ? <Choice name="bm25" label={<Term name="bm25">{t('bases.bm25')}</Term>} options={plain(formulas[engine])} /> : null}
        {engine === 'elasticsearch' ? (
          <>
            <Entry name="index" label={<Term name="attach">{t('bases.attach')}</Term>} hint={t('bases.attach.hint')} />
            <Choice name="layout" label={t('bases.layout')} options={[['', t('bases.layout.own')], ['ragflow', 'RAGFlow']]} />
            <label className="check"><input type="checkbox" name="shared" />{t('bases.shared')}</label>
          </>
        ) : null}
      </div>
    </details>
  )
}

function Entry({ name, label, hint }: { name: string; label: ReactNode; hint?: string }) {
  return (
    <Field label={label} hint={hint}>
      {(id, described) => <input id={id} name={name} className="input" maxLength={256} autoComplete="off" spellCheck={false} aria-describedby={described} />}
    </Field>
  )
}

function Choice({ name, label, options, choose }: { name: string; label: ReactNode; options: [value: string, label: string][]; choose?: (value: string) => void }) {
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} name={name} className="input" defaultValue={options[0]?.[0]} onChange={(e) => choose?.(e.target.value)}>
          {options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
        </select>
      )}
    </Field>
  )
}
