import { useState } from 'react'
import type { LiveExperiment } from '../../api/schema'
import { call } from '../../lib/api'
import type { Choices } from '../../lib/bases'
import { metrics } from '../../lib/experiments'
import { useLanguage, useText } from '../../lib/i18n'
import { localeOf } from '../../lib/languages'
import { navigate, type Params } from '../../lib/url'
import { definitionOf, readDraft, startOf, suggestedID, writeGuard, writeVariant, type Draft } from '../../pages/experiment-state'
import { Field, Select } from '../field'
import { Failure } from '../notice'
import { Estimate } from './estimate'
import { Guards } from './guards'
import { Variants } from './variants'

interface Props {
  choices: Choices
  params: URLSearchParams
  change: (c: Params, replace?: boolean) => void
}

/** What an experiment is made of, in the address until it is made. */
export function Design({ choices, params, change }: Props) {
  const { t, language } = useLanguage()
  const [start] = useState(() => new Date())
  const [error, setError] = useState<Error>()
  const [busy, setBusy] = useState(false)
  const draft = readDraft(params, choices)
  const set = (c: Params) => change(c, true)
  const definition = definitionOf(draft, start)
  const make = async () => {
    const made = definitionOf(draft, new Date())
    if (!made) return
    setBusy(true)
    try {
      const { id } = await call<LiveExperiment>('POST', '/v1/experiments', made)
      navigate(`/experiments/${encodeURIComponent(id)}`)
    } catch (e) {
      setError(e as Error)
      setBusy(false)
    }
  }
  return (
    <form className="card padded start design" aria-label={t('exp.new')} onSubmit={(e) => (e.preventDefault(), void make())}>
      <h2>{t('exp.new')}</h2>
      <Whom draft={draft} choices={choices} start={start} set={set} />
      <Variants draft={draft} choices={choices} set={(all) => set({ variant: all.map(writeVariant) })} />
      <Guards draft={draft} set={(all) => set({ guard: all.map(writeGuard) })} />
      <Estimate draft={draft} definition={definition} set={set} />
      {error ? <Failure error={error} /> : null}
      <p className="row">
        <button type="submit" className="button primary" disabled={busy || !definition}>{t(startOf(draft, start) > start ? 'exp.plan' : 'exp.make')}</button>
        <button type="button" className="button" onClick={() => change(Object.fromEntries([...params.keys()].map((k) => [k, null])))}>{t('app.cancel')}</button>
        <span className="quiet small">{startOf(draft, start) > start ? t('exp.make.later', { when: startOf(draft, start).toLocaleString(localeOf(language), { dateStyle: 'medium', timeStyle: 'short' }) }) : t('exp.make.about')}</span>
      </p>
    </form>
  )
}

/** Which searches take part, for how long, and what decides. */
function Whom({ draft: d, choices, start, set }: { draft: Draft; choices: Choices; start: Date; set: (c: Params) => void }) {
  const t = useText()
  return (
    <>
      <div className="fields">
        <Field label={t('exp.id')} hint={t('exp.id.hint')}>
          {(id, hint) => <input id={id} className="input" value={d.id} maxLength={64} placeholder={suggestedID(d, start)} autoComplete="off" spellCheck={false} aria-describedby={hint} onChange={(e) => set({ id: e.target.value })} />}
        </Field>
        <Select label={t('exp.mode')} value={d.mode} choose={(mode) => set({ mode: mode === 'split' ? null : mode, ...(mode === 'split' ? {} : { variant: d.variants.slice(0, 2).map(writeVariant) }) })}
          hint={t(`exp.mode.${d.mode}.hint`)} options={(['split', 'interleave'] as const).map((m) => ({ value: m, label: t(`exp.mode.${m}`) }))} />
        {d.mode === 'split' ? (
          <Select label={t('exp.metric')} value={d.metric} choose={(m) => set({ metric: m === 'click_through' ? null : m })}
            options={metrics.map((m) => ({ value: m, label: t(`exp.metric.${m}`) }))} />
        ) : null}
        <Select label={t('exp.unit')} value={d.unit} choose={(u) => set({ unit: u === 'user' ? null : u })} hint={t(`exp.unit.${d.unit}.hint`)}
          options={(['user', 'session'] as const).map((u) => ({ value: u, label: t(`exp.unit.${u}`) }))} />
        <Field label={t('exp.traffic')}>
          {(id) => <input id={id} className="input" type="number" min={0.1} max={100} step="any" required defaultValue={d.traffic} onChange={(e) => set({ traffic: e.target.value === '100' ? null : e.target.value })} />}
        </Field>
        <Field label={t('exp.begin')} hint={t('exp.begin.hint')}>
          {(id, hint) => <input id={id} className="input" type="datetime-local" defaultValue={d.begin} aria-describedby={hint} onChange={(e) => set({ begin: e.target.value })} />}
        </Field>
        <Field label={t('exp.days')}>
          {(id) => <input id={id} className="input" type="number" min={0.01} max={3650} step="any" required defaultValue={d.days} onChange={(e) => set({ days: e.target.value === '14' ? null : e.target.value })} />}
        </Field>
      </div>
      {choices.bases.length > 0 ? (
        <fieldset className="field">
          <legend>{t('exp.bases')}</legend>
          <div className="row presets">
            {choices.bases.map((b) => (
              <label key={b.id} className="check">
                <input type="checkbox" checked={d.kb.includes(b.id)} onChange={(e) => set({ kb: e.target.checked ? [...d.kb, b.id] : d.kb.filter((id) => id !== b.id) })} />
                {b.name || b.id}
              </label>
            ))}
          </div>
          <p className="hint">{t(d.kb.length > 0 ? 'exp.bases.some' : 'exp.bases.all')}</p>
        </fieldset>
      ) : null}
    </>
  )
}
