import { useState } from 'react'
import type { PresetsDefinition } from '../../api/schema'
import { useChoices } from '../../lib/bases'
import { useText } from '../../lib/i18n'
import { savedVersion, savePreset } from '../../lib/promotion'
import { Confirm } from '../confirm'
import { Link } from '../link'
import { Failure } from '../notice'

interface Props {
  /** What has won, as it is called. */
  system: string
  definition: () => Promise<PresetsDefinition>
  comment: string
}

/** What has won becomes the preset of searches that name none. */
export function MakeDefault({ system, definition, comment }: Props) {
  const t = useText()
  const choices = useChoices()
  const [done, setDone] = useState(false)
  const [error, setError] = useState<Error>()
  const make = async () => {
    try {
      await savePreset('default', await definition(), comment, savedVersion(choices.data?.details ?? [], 'default'))
      setError(undefined)
      setDone(true)
      choices.again()
    } catch (failed) {
      setError(failed as Error)
      choices.again() // who says it again has read what there is now
    }
  }
  return (
    <>
      {done ? <p role="status">{t('eval.promoted', { system })} <Link to="/presets?name=default">{t('eval.promoted.see')}</Link></p> : (
        <p className="row"><Confirm label={t('eval.promote')} about={t('eval.promote.about', { system })} act={make} tone="primary" /></p>
      )}
      {error ? <Failure error={error} /> : null}
    </>
  )
}
