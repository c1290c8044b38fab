import { useState } from 'react'
import type { PresetsDefinition, PresetVersion, RunsEvaluation, RunsSystem } from '../../api/schema'
import { ApiError, call } from '../../lib/api'
import { useChoices } from '../../lib/bases'
import { verdictOf } from '../../lib/evaluations'
import { useText } from '../../lib/i18n'
import { Confirm } from '../confirm'
import { Link } from '../link'
import { Failure, Notice } from '../notice'
import { chanceOf } from './result-table'
import { gainOf } from './tuning-result'

const defaultPath = '/v1/presets/default'

/** Members of a request that a preset may have, and those that say where to search rather than how. */
const places = ['preset', 'knowledge_bases', 'query', 'filter', 'engine'] as const

/** The preset that searches as a system did: its preset's own definition where it has one, else that preset as the base, with what it says otherwise. */
async function definitionOf({ request }: RunsSystem, standard: string): Promise<PresetsDefinition> {
  const preset = request.preset || standard
  const { definition } = await call<PresetVersion>('GET', `/v1/presets/${encodeURIComponent(preset)}`)
  const over = Object.fromEntries(Object.entries(request).filter(([name]) => !(places as readonly string[]).includes(name)))
  return { ...(definition ?? { base: preset }), ...over } as PresetsDefinition
}

/** Who won, in words, and the step from there: what is better beyond chance becomes the default. */
export function Promote({ evaluation: e, system, metric }: { evaluation: RunsEvaluation; system: string; metric: string }) {
  const t = useText()
  const choices = useChoices()
  const [done, setDone] = useState(false)
  const [error, setError] = useState<Error>()
  const verdict = verdictOf(e, system, metric)
  if (!verdict || !choices.data) return null
  const { gain, p, better } = verdict
  const { preset, ...over } = verdict.of.request
  const already = (preset || choices.data.standard) === choices.data.standard && Object.keys(over).length === 0
  const against = e.against ?? ''
  const promote = async () => {
    try {
      const [definition, version] = await Promise.all([definitionOf(verdict.of, choices.data!.standard), versionInUse()])
      const provenance = {
        metric, base: against.slice(0, 64), mean: gain.mean, interval: [gain.low, gain.high], queries: verdict.questions, date: e.created_at,
        note: `evaluation ${e.id}`,
      }
      await call('PUT', defaultPath, { definition: { ...definition, provenance }, base_version: version, comment: `${system}: evaluation ${e.id}` })
      setError(undefined)
      setDone(true)
      choices.again()
    } catch (failed) {
      setError(failed as Error)
    }
  }
  const values = { system, against, metric, gain: gainOf(gain), p: chanceOf(p) }
  return (
    <>
      <Notice title={t(better ? 'eval.better' : 'eval.notproven', values)} tone={better ? 'good' : 'warning'}>
        {better ? null : <p>{t('eval.notproven.about')}</p>}
        {done ? <p>{t('eval.promoted', values)} <Link to="/presets?name=default">{t('eval.promoted.see')}</Link></p> : null}
        {better && already && !done ? <p>{t('eval.isdefault')}</p> : null}
        {better && !already && !done ? (
          <p className="row"><Confirm label={t('eval.promote')} about={t('eval.promote.about', values)} act={promote} tone="primary" /></p>
        ) : null}
      </Notice>
      {error ? <Failure error={error} /> : null}
    </>
  )
}

/** The version that is replaced, so that nothing which somebody saves meanwhile is lost; 0: there is none. */
async function versionInUse(): Promise<number> {
  try {
    return (await call<PresetVersion>('GET', defaultPath)).version ?? 0
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return 0
    throw error
  }
}
