import type { LiveExperiment } from '../../api/schema'
import { useChoices } from '../../lib/bases'
import { useText } from '../../lib/i18n'
import { useLoad } from '../../lib/load'
import { presetOf } from '../../lib/promotion'
import { idFrom } from '../../lib/queries'
import { MakeDefault } from '../evaluation/make-default'
import { SavePreset } from '../evaluation/save-preset'
import { Failure, Notice, Skeleton } from '../notice'

/** What has won becomes a preset of its own, or the default, or is a preset already. */
export function Promote({ experiment: e, winner }: { experiment: LiveExperiment; winner: string }) {
  const t = useText()
  const standard = useChoices().data?.standard
  const variant = e.variants?.find((v) => v.name === winner)
  const request = (variant?.request ?? {}) as Record<string, unknown> & { preset?: string }
  const found = useLoad(variant && standard ? ['preset of', request, standard] : null, (signal) => presetOf(request, standard ?? '', signal))
  if (!variant || !standard) return null
  if (found.error) return <Failure error={found.error} again={found.again} />
  if (!found.data) return <Skeleton rows={2} />
  const { definition, left } = found.data
  const { preset, ...members } = request
  const comment = `experiment ${e.id}`
  if (Object.keys(members).length > 0) {
    return (
      <>
        {left.length > 0 ? <Notice title={t('exp.promote.left', { members: left.join(', ') })} /> : null}
        <SavePreset definition={definition} comment={comment} suggested={idFrom(winner)} />
        {left.length > 0 ? null : <MakeDefault system={winner} definition={async () => definition} comment={comment} />}
      </>
    )
  }
  return (
    <Notice title={preset ? t('exp.promote.preset', { preset }) : t('exp.promote.none')} tone="good">
      {preset && preset !== standard ? <MakeDefault system={preset} definition={async () => definition} comment={comment} /> : null}
    </Notice>
  )
}
