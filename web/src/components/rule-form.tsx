import { useState } from 'react'
import type { RulesRule } from '../api/schema'
import { useText } from '../lib/i18n'
import { linesOf, listOf, targetsOf } from '../lib/rules'
import { Field, Select } from './field'
import { Icon } from './icons'

const matches = ['contains', 'exact', 'expanded'] as const

interface Props {
  rule: RulesRule
  change: (rule: RulesRule | null) => void // null: it goes
  up?: () => void
}

/** One rule: when it applies, what comes first and what is left out. */
export function RuleForm({ rule, change, up }: Props) {
  const t = useText()
  const set = (part: Partial<RulesRule>) => change({ ...rule, ...part })
  return (
    <fieldset className="rule">
      <legend className="visually-hidden">{rule.name}</legend>
      <div className="row">
        <Field label={t('rules.name')}>{(id) => <input id={id} className="input" required maxLength={256} value={rule.name} onChange={(e) => set({ name: e.target.value })} />}</Field>
        <Select label={t('rules.match')} value={rule.when.match} choose={(match) => set({ when: { ...rule.when, match: match as RulesRule['when']['match'] } })}
          options={matches.map((m) => ({ value: m, label: t(`rules.match.${m}`) }))} />
        <label className="check">
          <input type="checkbox" checked={rule.enabled !== false} onChange={(e) => set({ enabled: e.target.checked ? undefined : false })} />
          {t('rules.enabled')}
        </label>
        <span className="row end">
          {up ? <button type="button" className="button compact" aria-label={t('rules.up', { name: rule.name })} onClick={up}><Icon name="up" /></button> : null}
          <button type="button" className="button compact danger" aria-label={t('rules.remove.name', { name: rule.name })} onClick={() => change(null)}>{t('rules.remove')}</button>
        </span>
      </div>
      <div className="fields">
        <Lines label={t('rules.phrases')} hint={t('rules.phrases.hint')} value={(rule.when.queries ?? []).join('\n')} change={(v) => set({ when: { ...rule.when, queries: listOf(v) } })} />
        <Lines label={t('rules.pin')} hint={t('rules.targets.hint')} value={linesOf(rule.pin)} change={(v) => set({ pin: targetsOf(v) })} />
        <Lines label={t('rules.hide')} hint={t('rules.targets.hint')} value={linesOf(rule.hide)} change={(v) => set({ hide: targetsOf(v) })} />
      </div>
    </fieldset>
  )
}

/** Lines of text; what is being typed stays as it is until one leaves. */
function Lines({ label, hint, value, change }: { label: string; hint: string; value: string; change: (value: string) => void }) {
  const [typed, setTyped] = useState<string>()
  const text = typed ?? value
  return (
    <Field label={label} hint={hint}>
      {(id, about) => (
        <textarea id={id} className="input" rows={Math.max(2, text.split('\n').length)} spellCheck={false} value={text} aria-describedby={about}
          onChange={(e) => (setTyped(e.target.value), change(e.target.value))} onBlur={() => setTyped(undefined)} />
      )}
    </Field>
  )
}
