import { metrics } from '../../lib/experiments'
import { useText } from '../../lib/i18n'
import { mostGuards, type Draft, type Guard } from '../../pages/experiment-state'
import { Field, Select } from '../field'

/** What must not become worse: the gateway stops an experiment by itself that is beyond. */
export function Guards({ draft: d, set }: { draft: Draft; set: (all: Guard[]) => void }) {
  const t = useText()
  const edit = (at: number, change: Partial<Guard>) => set(d.guards.map((g, i) => (i === at ? { ...g, ...change } : g)))
  const kinds = d.mode === 'split' ? (['at_most', 'increase'] as const) : (['at_most'] as const) // no list is of one variant
  return (
    <fieldset className="field">
      <legend>{t('exp.guards')}</legend>
      <p className="hint">{t('exp.guards.about')}</p>
      <div className="variants">
        {d.guards.map((g, i) => (
          <div key={i} className="variant rail" role="group" aria-label={t('exp.guard', { n: i + 1 })}>
            <Select label={t('exp.guard.metric')} value={g.metric} choose={(metric) => edit(i, { metric })} options={metrics.map((m) => ({ value: m, label: t(`exp.metric.${m}`) }))} />
            <Select label={t('exp.guard.kind')} value={kinds.find((k) => k === g.kind) ?? 'at_most'} choose={(kind) => edit(i, { kind: kind as Guard['kind'] })} options={kinds.map((k) => ({ value: k, label: t(`exp.guard.${k}`) }))} />
            <Field label={t('exp.guard.bound')}>
              {(id) => <input id={id} className="input" type="number" min={0} step="any" required value={g.bound} onChange={(e) => edit(i, { bound: e.target.value })} />}
            </Field>
            <button type="button" className="button compact" aria-label={t('exp.guard.remove', { n: i + 1 })} onClick={() => set(d.guards.filter((_, j) => j !== i))}>{t('exp.remove')}</button>
          </div>
        ))}
      </div>
      {d.guards.length < mostGuards ? (
        <p><button type="button" className="button compact" onClick={() => set([...d.guards, d.guards.length === 0 ? { metric: 'error_rate', kind: 'at_most', bound: '0.01' } : { metric: 'latency_ms', kind: d.mode === 'split' ? 'increase' : 'at_most', bound: '50' }])}>{t('exp.guard.add')}</button></p>
      ) : null}
    </fieldset>
  )
}
