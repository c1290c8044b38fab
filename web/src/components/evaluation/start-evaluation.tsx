import { useState } from 'react'
import type { LibraryJudgmentList, LibraryQuerySet, RunsEvaluation, RunsSystem, SearchRequest } from '../../api/schema'
import { call } from '../../lib/api'
import type { Choices } from '../../lib/bases'
import { families, metricsAt, sweepOf, type Family } from '../../lib/evaluations'
import { useText, type Key } from '../../lib/i18n'
import { navigate, numberOf, type Params } from '../../lib/url'
import { single } from '../../pages/search-state'
import { Select } from '../field'
import { Link } from '../link'
import { Failure, Notice } from '../notice'
import { ChooseList, chosenIn } from './choose-list'

interface Props {
  choices: Choices
  sets: LibraryQuerySet[]
  lists: LibraryJudgmentList[]
  params: URLSearchParams
  change: (c: Params, replace?: boolean) => void
}

const depths = [1, 3, 5, 10, 20, 50, 100]

/** Presets that a form begins with: the usual one beside each leg alone, which it should beat. */
const beginning = (choices: Choices) => [...new Set([choices.standard, ...single])].filter((p) => choices.presets.includes(p))

/** Says what is to be measured, and begins. */
export function StartEvaluation({ choices, sets, lists, params, change }: Props) {
  const t = useText()
  const [error, setError] = useState<Error>()
  const [busy, setBusy] = useState(false)
  const chosen = chosenIn(params, sets, lists)
  const { set, list } = chosen
  const presets = params.getAll('preset').filter((p) => choices.presets.includes(p))
  const compared = presets.length > 0 ? presets : beginning(choices)
  const joint = choices.presets.filter((p) => !single.includes(p))
  const swept = joint.find((p) => p === params.get('sweep'))
  const family: Family = families.find((f) => f === params.get('metric')) ?? 'ndcg'
  const k = Math.round(numberOf(params, 'k', [1, 1000], 10))
  const place = choices.bases.find((b) => b.id === params.get('in'))?.id ?? ''
  const toggle = (preset: string, on: boolean) => change({ preset: on ? [...compared, preset] : compared.filter((p) => p !== preset) }, true)
  const start = async () => {
    if (!set || !list) return
    setBusy(true)
    const systems: RunsSystem[] = swept ? sweepOf(swept) : compared.map((preset) => ({ name: preset, request: { preset } as SearchRequest }))
    const [own] = set.knowledge_bases ?? []
    try {
      const started = await call<RunsEvaluation>('POST', '/v1/evaluations', {
        query_set: set.id, judgments: list.id, metrics: metricsAt(family, k),
        systems: systems.map((s) => (place ? { ...s, request: { ...s.request, knowledge_bases: [place] } } : s)),
        ...(place && own && !(set.knowledge_bases ?? []).includes(place) ? { judged_as: { [place]: own } } : {}),
      })
      navigate(`/evaluate/${started.id}`)
    } catch (e) {
      setError(e as Error)
      setBusy(false)
    }
  }
  return (
    <form className="card padded start" onSubmit={(e) => (e.preventDefault(), void start())} aria-label={t('eval.new')}>
      <h2>{t('eval.new')}</h2>
      <div className="fields">
        <ChooseList sets={sets} lists={lists} chosen={chosen} change={change} />
        <Select label={t('eval.metric')} value={family} choose={(metric) => change({ metric: metric === 'ndcg' ? null : metric }, true)}
          options={families.map((f) => ({ value: f, label: t(`eval.metric.${f}` as Key) }))} />
        <Select label={t('eval.depth')} value={String(k)} choose={(n) => change({ k: n === '10' ? null : n }, true)}
          options={[...new Set([...depths, k])].sort((a, b) => a - b).map((n) => ({ value: String(n), label: String(n) }))} />
        {choices.bases.length > 1 ? (
          <Select label={t('eval.base')} value={place} choose={(kb) => change({ in: kb || null }, true)}
            options={[{ value: '', label: t('eval.base.own') }, ...choices.bases.map((b) => ({ value: b.id, label: b.name || b.id }))]} />
        ) : null}
        <Select label={t('eval.what')} value={swept ?? ''} choose={(preset) => change({ sweep: preset || null }, true)}
          options={[{ value: '', label: t('eval.what.presets') }, ...joint.map((p) => ({ value: p, label: t('eval.what.sweep', { preset: p }) }))]} />
      </div>
      {swept ? <p className="quiet small">{t('eval.what.sweep.about')}</p> : (
        <fieldset className="field">
          <legend>{t('eval.presets')}</legend>
          <div className="row presets">
            {choices.presets.map((p) => (
              <label key={p} className="check">
                <input type="checkbox" checked={compared.includes(p)} onChange={(e) => toggle(p, e.target.checked)} />
                {p === compared[0] ? t('eval.presets.first', { preset: p }) : p}
              </label>
            ))}
          </div>
        </fieldset>
      )}
      {set && (!list || list.judgments === 0) ? (
        <Notice title={t('eval.unjudged.list')}>
          <p className="row">
            {list ? <Link to={`/judge/${list.id}`} className="button">{t('eval.list.judge')}</Link> : <Link to="/evaluate?view=questions" className="button">{t('eval.view.questions')}</Link>}
          </p>
        </Notice>
      ) : null}
      {error ? <Failure error={error} /> : null}
      <p className="row">
        <button type="submit" className="button primary" disabled={busy || !list || list.judgments === 0}>{t('eval.start')}</button>
      </p>
    </form>
  )
}
