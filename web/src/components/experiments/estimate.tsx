import type { LiveDefinition } from '../../api/schema'
import { useNeeded } from '../../lib/experiments'
import { useText } from '../../lib/i18n'
import type { Params } from '../../lib/url'
import { goalOf, type Draft } from '../../pages/experiment-state'
import { Field } from '../field'

interface Props {
  draft: Draft
  definition: LiveDefinition | null
  set: (c: Params) => void
}

const inputs = [['effect', 'any', ''], ['power', '0.01', '0.8'], ['base', 'any', ''], ['units', 'any', '']] as const

/** How long it takes to find a difference, told while the difference is being typed. */
export function Estimate({ draft: d, definition, set }: Props) {
  const t = useText()
  const goal = goalOf(d)
  const { data, error, loading } = useNeeded(definition && goal ? { experiment: definition, goal } : null)
  const known = data && !error ? data : undefined
  const isRate = d.metric !== 'latency_ms' && d.metric !== 'click_mrr'
  const fields = inputs.filter(([name]) => name !== 'base' || d.mode === 'split' && isRate)
  return (
    <fieldset className="field estimate">
      <legend>{t('exp.goal')}</legend>
      <div className="fields">
        {fields.map(([name, step, usual]) => (
          <Field key={name} label={t(`exp.goal.${name}`)} hint={name === 'effect' ? t(d.mode === 'split' ? 'exp.goal.effect.hint' : 'exp.goal.effect.lists') : name === 'power' ? undefined : t('exp.goal.logged')}>
            {(id, hint) => <input id={id} className="input" type="number" min={0} step={step} value={d.goal[name]} aria-describedby={hint} onChange={(e) => set({ [name]: e.target.value === usual ? null : e.target.value })} />}
          </Field>
        ))}
        {d.mode === 'split' && !isRate ? (
          <Field label={t('exp.goal.deviation')} hint={t('exp.goal.logged')}>
            {(id, hint) => <input id={id} className="input" type="number" min={0} step="any" value={d.goal.deviation} aria-describedby={hint} onChange={(e) => set({ deviation: e.target.value })} />}
          </Field>
        ) : null}
      </div>
      <div className="needed" role="status" aria-busy={loading}>
        {known ? (
          <>
            <strong>{t('exp.needed', { units: known.units.toLocaleString(), days: daysOf(known.days) })}</strong>{' '}
            <span className={`tag ${known.fits ? 'good' : 'warn'}`}>{t(known.fits ? 'exp.needed.fits' : 'exp.needed.long', { days: daysOf(d.days) })}</span>
            <p className="quiet small">
              {t('exp.needed.once', { once: known.units_once.toLocaleString(), perday: Math.round(known.goal.units_per_day ?? 0).toLocaleString() })}{' '}
              {known.units_seen > 0 ? t('exp.needed.seen', { units: known.units_seen.toLocaleString(), searches: known.searches_seen.toLocaleString() }) : null}
            </p>
          </>
        ) : null}
        {error ? <p className="quiet small">{t('exp.needed.unknown')} {error.message}</p> : null}
        {!definition ? <p className="quiet small">{t('exp.members.wrong')}</p> : null}
      </div>
    </fieldset>
  )
}

const daysOf = (days: number) => days.toLocaleString(undefined, { maximumFractionDigits: days < 10 ? 1 : 0 })
