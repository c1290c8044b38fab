import type { ReactNode } from 'react'
import type { EngineKnowledgeBase, EngineMappingPlan, MigrationRequest } from '../../api/schema'
import { call } from '../../lib/api'
import { enginesOf } from '../../lib/bases'
import { useText, type Key } from '../../lib/i18n'
import { analyzers, given, vectorIndexes } from '../../lib/schema'
import { Field } from '../field'
import { Term } from '../term'
import { pathOf } from './path'

/** The vector fields that there are to be; nothing when they stay. */
function fieldsOf(base: EngineKnowledgeBase, title: string) {
  const others = (base.vector_fields ?? []).filter((v) => v.name !== 'title_vector')
  if (title === '') return undefined
  return title === 'title' ? [...others, { name: 'title_vector', source: 'title' }] : others
}

/** What parts of the text count from now on; nothing when that stays. */
function boostsOf(base: EngineKnowledgeBase, title?: number) {
  return title === undefined ? undefined : { ...base.fields, title }
}

/** What the form asks for; an empty field asks for nothing. */
function requestOf(form: FormData, base: EngineKnowledgeBase): MigrationRequest {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const numeric = (name: string) => (text(name) === '' ? undefined : Number(text(name)))
  const queries = text('gate').split('\n').map((q) => q.trim()).filter(Boolean).map((query) => ({ query }))
  return {
    changes: given({ vector_index: text('vector_index'), analyzer: text('analyzer'), dimensions: numeric('dimensions'), embedding_model: text('model'), vector_fields: fieldsOf(base, text('title_vector')), fields: boostsOf(base, numeric('title')) }),
    options: given({
      requests_per_second: numeric('rate'), sample: numeric('sample'),
      gate: queries.length > 0 ? given({ queries, min_overlap: numeric('overlap') }) : undefined,
    }),
  } as MigrationRequest
}

interface ChangeProps {
  base: EngineKnowledgeBase
  /** The state of a migration that must end before another one is planned. */
  waits?: string
  planned: (p: EngineMappingPlan) => void
  failed: (e: Error) => void
}

/** What is to change, and how; its answer is a plan. */
export function ChangeForm({ base, waits, planned, failed }: ChangeProps) {
  const t = useText()
  const { id: kb, engine } = base
  const alone = enginesOf(base).length === 1 // engines have words of their own for these
  const submit = async (form: FormData) => {
    try {
      planned(await call<EngineMappingPlan>('POST', pathOf(kb, 'plan'), requestOf(form, base)))
    } catch (e) {
      failed(e as Error)
    }
  }
  const choice = (name: string, label: ReactNode, values: string[], names = values) => (
    <Field label={label}>
      {(id) => (
        <select id={id} name={name} className="input" defaultValue="">
          <option value="">{t('map.keep')}</option>
          {values.map((v, i) => <option key={v} value={v}>{names[i]}</option>)}
        </select>
      )}
    </Field>
  )
  const entry = (name: string, label: ReactNode, type = 'text', step?: string) => (
    <Field label={label}>{(id) => <input id={id} name={name} type={type} step={step} min={type === 'number' ? 0 : undefined} className="input" autoComplete="off" />}</Field>
  )
  return (
    <section className="part">
      <h2>{t('map.change')}</h2>
      <p className="quiet">{t('map.change.about')}</p>
      <form className="change" onSubmit={(e) => (e.preventDefault(), void submit(new FormData(e.currentTarget)))}>
        <div className="fields">
          {alone && vectorIndexes[engine] ? choice('vector_index', <Term name="vector_index">{t('map.vector_index')}</Term>, vectorIndexes[engine]) : null}
          {alone && analyzers[engine] ? choice('analyzer', <Term name="analyzer">{t('map.analyzer')}</Term>, analyzers[engine]) : null}
          {entry('dimensions', <Term name="dimensions">{t('map.dimensions')}</Term>, 'number')}
          {entry('model', <Term name="embedding">{t('map.model')}</Term>)}
          {base.kind === 'chunks' ? choice('title', <Term name="parts">{t('map.title_boost')}</Term>, ['1', '2', '3', '5', '10'], ['×1', '×2', '×3', '×5', '×10']) : null}
          {base.kind === 'chunks' && base.dimensions > 0
            ? choice('title_vector', <Term name="title_vectors">{t('map.titles')}</Term>, ['title', 'none'], [t('bases.source.title'), t('bases.source.none')]) : null}
        </div>
        <details>
          <summary>{t('map.options')}</summary>
          <div className="fields">
            {entry('rate', t('map.rate'), 'number')}
            {entry('sample', t('map.sample'), 'number')}
            {entry('overlap', t('map.overlap'), 'number', '0.01')}
          </div>
          <Field label={<Term name="gate">{t('map.gate')}</Term>} hint={t('map.gate.hint')}>
            {(id, hint) => <textarea id={id} name="gate" rows={3} className="input" aria-describedby={hint} />}
          </Field>
        </details>
        <p className="row">
          <button type="submit" className="button primary" disabled={waits !== undefined} aria-describedby={waits ? 'plan-waits' : undefined}>{t('map.plan')}</button>
          {waits ? <span id="plan-waits" className="quiet">{t(`map.waits.${waits}` as Key)}</span> : null}
        </p>
      </form>
    </section>
  )
}
