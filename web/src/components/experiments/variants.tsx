import type { Choices } from '../../lib/bases'
import { useText } from '../../lib/i18n'
import { mostVariants, requestOf, type Draft, type Variant } from '../../pages/experiment-state'
import { Field, Select } from '../field'

interface Props {
  draft: Draft
  choices: Choices
  set: (all: Variant[]) => void
}

/** The ways to search, the first as it is now; each changes a preset, members of the request, or both. */
export function Variants({ draft: d, choices, set }: Props) {
  const t = useText()
  const edit = (at: number, change: Partial<Variant>) => set(d.variants.map((v, i) => (i === at ? { ...v, ...change } : v)))
  /** All the same, in whole hundredths that add up. */
  const evenly = (all: Variant[]) => all.map((v, i) => ({ ...v, share: String(i === 0 ? Math.round((100 - Math.floor(10_000 / all.length) / 100 * (all.length - 1)) * 100) / 100 : Math.floor(10_000 / all.length) / 100) }))
  const sum = d.variants.reduce((all, v) => all + Number(v.share), 0)
  return (
    <fieldset className="field">
      <legend>{t('exp.variants')}</legend>
      <div className="variants">
        {d.variants.map((v, i) => (
          <div key={i} className={d.mode === 'split' ? 'variant' : 'variant even'} role="group" aria-label={t('exp.variant', { n: i + 1 })}>
            <Field label={t(i === 0 ? 'exp.variant.first' : 'exp.variant.name')}>
              {(id) => <input id={id} className="input" value={v.name} required maxLength={64} pattern="[a-z0-9][a-z0-9_\-]*" title={t('exp.id.hint')} autoComplete="off" spellCheck={false} onChange={(e) => edit(i, { name: e.target.value.replaceAll('~', '') })} />}
            </Field>
            {d.mode === 'split' ? (
              <Field label={t('exp.share')}>
                {(id) => <input id={id} className="input" type="number" min={0.01} max={99.99} step="any" required value={v.share} onChange={(e) => edit(i, { share: e.target.value })} />}
              </Field>
            ) : null}
            <Select label={t('search.preset')} value={v.preset} choose={(preset) => edit(i, { preset })}
              options={[{ value: '', label: t('exp.preset.asked') }, ...choices.presets.map((p) => ({ value: p, label: p }))]} />
            <Field label={t('exp.members')} hint={requestOf(v) === null ? t('exp.members.wrong') : undefined}>
              {(id, hint) => <input id={id} className="input mono" value={v.members} placeholder={i === 0 ? '' : '{"weights": {"text": 0.3, "vector": 0.7}}'} autoComplete="off" spellCheck={false} aria-invalid={requestOf(v) === null} aria-describedby={hint} onChange={(e) => edit(i, { members: e.target.value })} />}
            </Field>
            {d.variants.length > 2 && i > 0 ? (
              <button type="button" className="button compact" aria-label={t('exp.variant.remove', { name: v.name })} onClick={() => set(evenly(d.variants.filter((_, j) => j !== i)))}>{t('exp.remove')}</button>
            ) : null}
          </div>
        ))}
      </div>
      {d.mode === 'split' ? (
        <p className="row">
          {d.variants.length < mostVariants ? (
            <button type="button" className="button compact" onClick={() => set(evenly([...d.variants, { name: `v${d.variants.length + 1}`, share: '', preset: '', members: '' }]))}>{t('exp.variant.add')}</button>
          ) : null}
          {Math.abs(sum - 100) > 0.001 ? <span className="quiet small" role="status">{t('exp.share.sum', { sum: Math.round(sum * 100) / 100 })}</span> : null}
        </p>
      ) : null}
    </fieldset>
  )
}
