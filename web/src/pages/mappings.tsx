import { useState, type ReactNode } from 'react'
import type { EngineKnowledgeBase, EngineMappingDiff, EngineMappingPlan, MappingBody, MappingHistory, MigrationRequest } from '../api/schema'
import { Code } from '../components/code'
import { Confirm } from '../components/confirm'
import { Field, Select } from '../components/field'
import { MigrationPanel, useStatus } from '../components/migration'
import { Failure, Skeleton } from '../components/notice'
import { Pipeline, planned } from '../components/pipeline'
import { Term } from '../components/term'
import { call } from '../lib/api'
import { enginesOf, hasMapping, useChoices } from '../lib/bases'
import { count, roughly } from '../lib/duration'
import { bytes } from '../lib/format'
import { useLanguage, useText, type Key } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { analyzers, given, vectorIndexes } from '../lib/schema'
import { useParams } from '../lib/url'
import '../styles/mappings.css'

export default function MappingsPage() {
  const t = useText()
  const [params, setParams] = useParams()
  const choices = useChoices()
  const bases = (choices.data?.bases ?? []).filter(hasMapping)
  const base = bases.find((b) => b.id === params.get('kb')) ?? bases[0]
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('map.title')}</h1>
        <p>{t('map.about')}</p>
      </div>
      {choices.error ? <Failure error={choices.error} again={choices.again} /> : null}
      {base ? (
        <>
          <div className="choose">
            <Select label={t('map.base')} value={base.id} choose={(v) => setParams({ kb: v })}
              options={bases.map((b) => ({ value: b.id, label: `${b.name || b.id} · ${b.engine}` }))} />
          </div>
          <Mapping key={base.id} base={base} reload={choices.again} />
        </>
      ) : null}
    </div>
  )
}

const path = (kb: string, what: string) => `/v1/mappings/${encodeURIComponent(kb)}/${what}`

function Mapping({ base, reload }: { base: EngineKnowledgeBase; reload: () => void }) {
  const t = useText()
  const kb = base.id
  const diff = useLoad(['mapping diff', kb], (signal) => call<EngineMappingDiff>('POST', path(kb, 'diff'), {}, signal))
  const history = useLoad(['mapping history', kb], (signal) => call<MappingHistory>('GET', path(kb, 'history'), undefined, signal))
  const [plan, setPlan] = useState<EngineMappingPlan>()
  const [error, setError] = useState<Error>()
  const [turn, setTurn] = useState(0)
  const status = useStatus(kb, turn).data
  const changed = () => {
    setTurn((n) => n + 1)
    diff.again()
    history.again()
    reload() // its fields and its model may be others now
  }
  const apply = async () => {
    try {
      await call('POST', path(kb, 'apply'), { plan: plan?.id })
      setPlan(undefined)
      setError(undefined)
    } catch (e) {
      setError(e as Error)
    }
    changed()
  }
  return (
    <div className="mapping">
      <MigrationPanel kb={kb} turn={turn} changed={changed} />
      <section className="part">
        <h2><Term name="mapping">{t('map.diff')}</Term></h2>
        {diff.error ? <Failure error={diff.error} again={diff.again} /> : null}
        {diff.loading && !diff.data ? <Skeleton rows={2} /> : null}
        {diff.data ? <Diff diff={diff.data} /> : null}
      </section>
      <ChangeForm base={base} waits={status?.active ? status.state : undefined} planned={(p) => (setPlan(p), setError(undefined))} failed={setError} />
      {error ? <Failure error={error} /> : null}
      {plan ? (
        <section className="part card padded" aria-label={t('map.plan.title', { id: plan.id })}>
          <h2>{t('map.plan.title', { id: plan.id })}</h2>
          <p className="quiet">{t('map.plan.dry')}</p>
          <Diff diff={plan.diff} />
          <h3 className="label">{t('map.steps')}</h3>
          <Pipeline steps={planned(plan.steps ?? [])} />
          {plan.diff.class === 'none' || plan.diff.class === 'conflict' ? null : (
            <p><Confirm tone="primary" label={t('map.apply')} act={apply}
              about={plan.diff.class === 'in_place' ? t('map.confirm.apply.place') : t('map.confirm.apply', { documents: plan.diff.estimate.documents })} /></p>
          )}
        </section>
      ) : null}
      <Bodies kb={kb} turn={turn} />
      <History history={history.data} />
    </div>
  )
}

const tones: Record<string, string> = { none: 'good', in_place: 'good', needs_reindex: 'warn', conflict: 'bad' }

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function Diff({ diff }: { diff: EngineMappingDiff }) {
  const { t, language } = useLanguage()
  const changes = diff.changes ?? []
  const e = diff.estimate
  return (
    <>
      <p className="row">
        <span className={`tag ${tones[diff.class] ?? ''}`}>{t(`map.class.${diff.class}` as Key)}</span>
        <span className="mono quiet">{diff.index}</span>
        <span className="quiet">{t('map.estimate', { documents: count(e.documents, language), bytes: bytes(e.bytes), time: roughly(e.minutes * 60, language) })}</span>
      </p>
      {changes.length === 0 ? <p>{t('map.same')}</p> : (
        <div className="card scroll" tabIndex={0} role="region" aria-label={t('map.diff')}>
          <table className="grid-table">
            <thead>
              <tr>
                <th scope="col">{t('map.path')}</th>
                <th scope="col">{t('map.live')}</th>
                <th scope="col">{t('map.desired')}</th>
                <th scope="col"><Term name="change_class">{t('map.class')}</Term></th>
                <th scope="col">{t('map.reason')}</th>
              </tr>
            </thead>
            <tbody>
              {changes.map((c) => (
                <tr key={c.path}>
                  <th scope="row" className="mono">{c.path}</th>
                  <td className="mono removed">{c.live === undefined ? <span className="quiet">{t('map.absent')}</span> : shown(c.live)}</td>
                  <td className="mono added">{c.desired === undefined ? <span className="quiet">{t('map.absent')}</span> : shown(c.desired)}</td>
                  <td><span className={`tag ${tones[c.class] ?? ''}`}>{t(`map.class.${c.class}` as Key)}</span></td>
                  <td className="reason">{c.reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}

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

function ChangeForm({ base, waits, planned, failed }: ChangeProps) {
  const t = useText()
  const { id: kb, engine } = base
  const alone = enginesOf(base).length === 1 // engines have words of their own for these
  const submit = async (form: FormData) => {
    try {
      planned(await call<EngineMappingPlan>('POST', path(kb, 'plan'), requestOf(form, base)))
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

/** The whole mappings, loaded only when somebody looks. */
function Bodies({ kb, turn }: { kb: string; turn: number }) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const bodies = useLoad(open ? ['mapping bodies', kb, turn] : null, (signal) =>
    Promise.all(['live', 'desired'].map((what) => call<MappingBody>('GET', path(kb, what), undefined, signal))))
  const [live, desired] = bodies.data ?? []
  return (
    <details className="part" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{t('map.bodies')}</summary>
      {bodies.error ? <Failure error={bodies.error} again={bodies.again} /> : null}
      {live && desired ? (
        <div className="bodies">
          <div><h3 className="label">{t('map.bodies.live')}</h3><Code label={t('map.bodies.live')} text={JSON.stringify(live.mapping, null, 2)} /></div>
          <div><h3 className="label">{t('map.bodies.desired')}</h3><Code label={t('map.bodies.desired')} text={JSON.stringify(desired.mapping, null, 2)} /></div>
        </div>
      ) : null}
    </details>
  )
}

function History({ history }: { history?: MappingHistory }) {
  const t = useText()
  const list = history?.migrations ?? []
  return (
    <section className="part">
      <h2>{t('map.history')}</h2>
      {list.length === 0 ? <p className="quiet">{t('map.history.none')}</p> : (
        <div className="card scroll" tabIndex={0} role="region" aria-label={t('map.history')}>
          <table className="grid-table">
            <thead>
              <tr><th scope="col">{t('map.when')}</th><th scope="col">{t('map.who')}</th><th scope="col">{t('map.what')}</th><th scope="col">{t('bases.state')}</th></tr>
            </thead>
            <tbody>
              {list.map((m) => (
                <tr key={`${m.id} ${m.updated_at}`}>
                  <td>{new Date(m.started_at).toLocaleString()}</td>
                  <td>{m.started_by || '–'}</td>
                  <td>{(m.plan.diff.changes ?? []).map((c) => c.path).slice(0, 3).join(', ') || '–'}</td>
                  <td><span className="tag">{t(`map.state.${m.state}` as Key)}</span></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

