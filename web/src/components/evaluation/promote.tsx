import type { PresetsDefinition, RunsEvaluation } from '../../api/schema'
import { useChoices } from '../../lib/bases'
import { verdictOf } from '../../lib/evaluations'
import { chanceOf } from '../../lib/format'
import { useText } from '../../lib/i18n'
import { presetOf } from '../../lib/promotion'
import { Notice } from '../notice'
import { MakeDefault } from './make-default'
import { gainOf } from './tuning-result'

/** Who won, in words, and the step from there: what is better beyond chance becomes the default. */
export function Promote({ evaluation: e, system, metric }: { evaluation: RunsEvaluation; system: string; metric: string }) {
  const t = useText()
  const choices = useChoices()
  const verdict = verdictOf(e, system, metric)
  if (!verdict || !choices.data) return null
  const { gain, p, better } = verdict
  const { standard } = choices.data
  const { preset, ...over } = verdict.of.request
  const already = (preset || standard) === standard && Object.keys(over).length === 0
  const against = e.against ?? ''
  const definition = async (): Promise<PresetsDefinition> => {
    const { definition, left } = await presetOf(verdict.of.request, standard)
    if (left.length > 0) throw new Error(t('exp.promote.left', { members: left.join(', ') }))
    const provenance = {
      metric, base: against.slice(0, 64), mean: gain.mean, interval: [gain.low, gain.high], queries: verdict.questions, date: e.created_at,
      note: `evaluation ${e.id}`,
    }
    return { ...definition, provenance }
  }
  return (
    <Notice title={t(better ? 'eval.better' : 'eval.notproven', { system, against, metric, gain: gainOf(gain), p: chanceOf(p) })} tone={better ? 'good' : 'warning'}>
      {better ? null : <p>{t('eval.notproven.about')}</p>}
      {better && already ? <p>{t('eval.isdefault')}</p> : null}
      {better && !already ? <MakeDefault system={system} definition={definition} comment={`${system}: evaluation ${e.id}`} /> : null}
    </Notice>
  )
}
