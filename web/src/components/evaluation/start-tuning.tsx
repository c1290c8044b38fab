import { useState } from 'react'
import type { LibraryJudgmentList, LibraryQuerySet, RunsTuning } from '../../api/schema'
import { call } from '../../lib/api'
import type { Choices } from '../../lib/bases'
import { families, type Family } from '../../lib/evaluations'
import { useText, type Key } from '../../lib/i18n'
import { navigate, numberOf, type Params } from '../../lib/url'
import { single } from '../../pages/search-state'
import { Field, Select } from '../field'
import { Failure } from '../notice'
import { ChooseList, chosenIn } from './choose-list'

interface Props {
  choices: Choices
  sets: LibraryQuerySet[]
  lists: LibraryJudgmentList[]
  params: URLSearchParams
  change: (c: Params, replace?: boolean) => void
}

const trials = [500, 2000, 10_000, 50_000]
const methods = ['cmaes', 'grid', 'random'] as const

const linesOf = (text: FormDataEntryValue | null) => String(text ?? '').split('\n').map((l) => l.trim()).filter(Boolean)

/** Says what is to be tuned, and begins. */
export function StartTuning({ choices, sets, lists, params, change }: Props) {
  const t = useText()
  const [error, setError] = useState<Error>()
  const [busy, setBusy] = useState(false)
  const chosen = chosenIn(params, sets, lists)
  const { set, list } = chosen
  const joint = choices.presets.filter((p) => !single.includes(p))
  const preset = joint.find((p) => p === params.get('preset')) ?? (joint.includes(choices.standard) ? choices.standard : joint[0])
  const family: Family = families.find((f) => f === params.get('metric')) ?? 'ndcg'
  const k = Math.round(numberOf(params, 'k', [1, 100], 10))
  const method = methods.find((m) => m === params.get('method')) ?? 'cmaes'
  const tries = Math.round(numberOf(params, 'trials', [1, 1_000_000], 2000))
  const bases = set?.knowledge_bases ?? []
  const kb = bases.find((id) => id === params.get('in')) ?? bases[0]
  const start = async (form: FormData) => {
    if (!set || !list) return
    setBusy(true)
    const [space, retrieval] = [linesOf(form.get('space')), linesOf(form.get('retrieval'))]
    try {
      const started = await call<RunsTuning>('POST', '/v1/tunings', {
        query_set: set.id, judgments: list.id, knowledge_base: kb, preset, metric: `${family}@${k}`, method, trials: tries,
        ...(space.length > 0 ? { space } : {}),
        ...(retrieval.length > 0 ? { retrieval } : {}),
      })
      navigate(`/tune/${started.id}`)
    } catch (e) {
      setError(e as Error)
      setBusy(false)
    }
  }
  return (
    <form className="card padded start" onSubmit={(e) => (e.preventDefault(), void start(new FormData(e.currentTarget)))} aria-label={t('tune.new')}>
      <h2>{t('tune.new')}</h2>
      <p className="quiet small">{t('tune.about')}</p>
      <div className="fields">
        <ChooseList sets={sets} lists={lists} chosen={chosen} change={change} />
        {bases.length > 1 ? (
          <Select label={t('eval.base')} value={kb ?? ''} choose={(id) => change({ in: id }, true)} options={bases.map((id) => ({ value: id, label: id }))} />
        ) : null}
        <Select label={t('search.preset')} value={preset ?? ''} choose={(p) => change({ preset: p }, true)} options={joint.map((p) => ({ value: p, label: p }))} />
        <Select label={t('eval.metric')} value={family} choose={(metric) => change({ metric: metric === 'ndcg' ? null : metric }, true)}
          options={families.map((f) => ({ value: f, label: t(`eval.metric.${f}` as Key) }))} />
        <Select label={t('eval.depth')} value={String(k)} choose={(n) => change({ k: n === '10' ? null : n }, true)}
          options={[...new Set([5, 10, 20, k])].sort((a, b) => a - b).map((n) => ({ value: String(n), label: String(n) }))} />
        <Select label={t('tune.trials')} value={String(tries)} choose={(n) => change({ trials: n === '2000' ? null : n }, true)}
          options={[...new Set([...trials, tries])].sort((a, b) => a - b).map((n) => ({ value: String(n), label: n.toLocaleString() }))} />
        <Select label={t('tune.method')} value={method} choose={(m) => change({ method: m === 'cmaes' ? null : m }, true)}
          options={methods.map((m) => ({ value: m, label: t(`tune.method.${m}`) }))} />
      </div>
      <details>
        <summary>{t('tune.space.own')}</summary>
        <div className="fields">
          <Field label={t('tune.space')} hint={t('tune.space.hint')}>
            {(id, hint) => <textarea id={id} name="space" className="input mono" rows={3} spellCheck={false} aria-describedby={hint} placeholder={'weights.text=0..1\nrrf_k=1..200:log'} />}
          </Field>
          <Field label={t('tune.retrieval')} hint={t('tune.retrieval.hint')}>
            {(id, hint) => <textarea id={id} name="retrieval" className="input mono" rows={3} spellCheck={false} aria-describedby={hint} placeholder="candidates=50,100,200" />}
          </Field>
        </div>
      </details>
      {error ? <Failure error={error} /> : null}
      <p className="row">
        <button type="submit" className="button primary" disabled={busy || !list || list.judgments === 0 || !preset}>{t('tune.start')}</button>
        {set && (!list || list.judgments === 0) ? <span className="quiet small">{t('eval.unjudged.list')}</span> : null}
      </p>
    </form>
  )
}
