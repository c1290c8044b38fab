import { useEffect, useState } from 'react'
import type { EngineKnowledgeBase, RuleHistory, RuleSet, RulesRule } from '../api/schema'
import { Field, Select } from '../components/field'
import { Aside, isOvertaken, Newer } from '../components/newer'
import { Failure, Notice, Skeleton } from '../components/notice'
import { RuleForm } from '../components/rule-form'
import { Unsaved } from '../components/unsaved'
import { Versions } from '../components/versions'
import { call } from '../lib/api'
import { useChoices } from '../lib/bases'
import { useText } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { newRule, raised } from '../lib/rules'
import { useParams } from '../lib/url'
import '../styles/rules.css'

/** What is pinned before all other hits, or hidden, for some questions to a knowledge base. */
export default function RulesPage() {
  const t = useText()
  const [params, setParams] = useParams()
  const choices = useChoices()
  const base = choices.data?.bases.find((b) => b.id === params.get('kb')) ?? choices.data?.bases[0]
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('rules.title')}</h1>
        <p>{t('rules.about')}</p>
      </div>
      {choices.error ? <Failure error={choices.error} again={choices.again} /> : null}
      {base ? (
        <>
          <div className="choose">
            <Select label={t('rules.base')} value={base.id} choose={(kb) => setParams({ kb })}
              options={(choices.data?.bases ?? []).map((b) => ({ value: b.id, label: b.name || b.id }))} />
          </div>
          <Editor key={base.id} base={base} />
        </>
      ) : null}
    </div>
  )
}

function Editor({ base }: { base: EngineKnowledgeBase }) {
  const t = useText()
  const path = `/v1/rules/${encodeURIComponent(base.id)}`
  const current = useLoad(['rules', base.id], (signal) => call<RuleSet>('GET', path, undefined, signal))
  const history = useLoad(['rule history', base.id], (signal) => call<RuleHistory>('GET', `${path}/versions`, undefined, signal))
  const [rules, setRules] = useState<RulesRule[]>()
  const [comment, setComment] = useState('')
  const [error, setError] = useState<Error>()
  const [said, setSaid] = useState('')
  const [aside, setAside] = useState<RulesRule[]>() // what a newer version was loaded over
  useEffect(() => setRules(current.data ? current.data.rules ?? [] : undefined), [current.data])
  if (current.error) return <Failure error={current.error} again={current.again} />
  if (!rules || !current.data) return <Skeleton rows={3} />
  const { version } = current.data
  const dirty = JSON.stringify(rules) !== JSON.stringify(current.data.rules ?? [])
  const done = (s: RuleSet) => {
    setError(undefined)
    setAside(undefined)
    setComment('')
    setSaid(t('rules.saved', { version: s.version, rules: s.count }))
    current.again()
    history.again()
  }
  const failed = (e: Error) => {
    setError(e)
    if (isOvertaken(e)) history.again()
  }
  const save = (base = version) => call<RuleSet>('PUT', path, { rules, base_version: base, ...(comment ? { comment } : {}) }).then((s) => (done(s), true), (e: Error) => (failed(e), false))
  const load = () => {
    if (dirty) setAside(rules)
    setError(undefined)
    current.again()
  }
  const change = (at: number, rule: RulesRule | null) => setRules(rule ? rules.map((r, i) => (i === at ? rule : r)) : rules.filter((_, i) => i !== at))
  return (
    <div className="rule-page">
      {dirty ? <Unsaved save={() => save()} /> : null}
      {aside ? <Aside back={() => (setRules(aside), setAside(undefined))} /> : null}
      {said && !dirty ? <Notice title={said} tone="good" /> : null}
      {isOvertaken(error) ? <Newer error={error} path={path} load={load} over={dirty ? (base) => void save(base) : undefined} /> : error ? <Failure error={error} /> : null}
      <form className="part" onSubmit={(e) => (e.preventDefault(), void save())}>
        {rules.length === 0 ? <p className="blank">{t('rules.none')}</p> : null}
        <ol className="rule-list">
          {rules.map((rule, i) => (
            <li key={i}>
              <RuleForm rule={rule} change={(r) => change(i, r)} up={i > 0 ? () => setRules(raised(rules, i)) : undefined} />
            </li>
          ))}
        </ol>
        <p><button type="button" className="button" onClick={() => setRules([...rules, newRule(rules, t('rules.rule'))])}>{t('rules.add')}</button></p>
        <Field label={t('syn.comment')}>{(id) => <input id={id} className="input" maxLength={300} autoComplete="off" value={comment} onChange={(e) => setComment(e.target.value)} />}</Field>
        <p className="row">
          <button type="submit" className="button primary" disabled={!dirty}>{t('syn.save')}</button>
          <span className="tag">{version > 0 ? t('syn.version', { version }) : t('syn.version.none')}</span>
          {dirty ? <span className="tag warn">{t('syn.changed')}</span> : null}
        </p>
      </form>
      <Versions list={history.data?.versions ?? []} current={version} about={(v) => t('syn.rulecount', { count: v.count })}
        rollback={(v) => void call<RuleSet>('POST', `${path}/rollback`, { version: v, base_version: version }).then(done, failed)} />
    </div>
  )
}
