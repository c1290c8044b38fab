import type { LiveExperiment, PresetsDefinition } from '../../api/schema'
import { useChoices } from '../../lib/bases'
import { useText } from '../../lib/i18n'
import { idFrom } from '../../lib/queries'
import { SavePreset } from '../evaluation/save-preset'
import { Notice } from '../notice'

/** Members of a search that a preset may have. */
const ofPresets: string[] = ['candidates', 'did_you_mean', 'diversity', 'fields', 'group_by', 'minimum_should_match', 'normalizer', 'pivot', 'rerank', 'return', 'rewrite',
  'rrf_k', 'signals', 'text_query', 'text_required', 'threshold', 'use_rerank', 'weights'] satisfies (keyof PresetsDefinition)[]

/** What has won becomes what all searches may name: a preset of its own, or the one that it is. */
export function Promote({ experiment: e, winner }: { experiment: LiveExperiment; winner: string }) {
  const t = useText()
  const choices = useChoices()
  const variant = e.variants?.find((v) => v.name === winner)
  if (!variant || !choices.data) return null
  const { preset, ...members } = (variant.request ?? {}) as Record<string, unknown> & { preset?: string }
  if (Object.keys(members).length === 0) {
    return (
      <Notice title={preset ? t('exp.promote.preset', { preset }) : t('exp.promote.none')} tone="good">
        {preset && preset !== choices.data.standard ? <p>{t('exp.promote.default')} <code className="mono">default_preset: {preset}</code></p> : null}
      </Notice>
    )
  }
  const left = Object.keys(members).filter((m) => !ofPresets.includes(m))
  const kept = Object.fromEntries(Object.entries(members).filter(([m]) => !left.includes(m)))
  return (
    <>
      {left.length > 0 ? <Notice title={t('exp.promote.left', { members: left.join(', ') })} /> : null}
      <SavePreset definition={{ base: preset ?? choices.data.standard, ...kept } as PresetsDefinition} comment={`experiment ${e.id}`} suggested={idFrom(winner)} />
    </>
  )
}
