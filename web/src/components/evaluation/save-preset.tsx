import { useState } from 'react'
import type { PresetsDefinition } from '../../api/schema'
import { useChoices } from '../../lib/bases'
import { useText } from '../../lib/i18n'
import { savedVersion, savePreset } from '../../lib/promotion'
import { Code } from '../code'
import { Field } from '../field'
import { Link } from '../link'
import { Failure, Notice } from '../notice'

/** Makes what was found a preset that searches may name at once. */
export function SavePreset({ definition, comment, suggested }: { definition: PresetsDefinition; comment: string; suggested: string }) {
  const t = useText()
  const choices = useChoices()
  const [name, setName] = useState(suggested)
  const [saved, setSaved] = useState('')
  const [error, setError] = useState<Error>()
  const save = async () => {
    try {
      await savePreset(name, definition, comment, savedVersion(choices.data?.details ?? [], name))
      setSaved(name)
      setError(undefined)
    } catch (e) {
      setError(e as Error)
      choices.again() // who says it again has read what there is now
    }
  }
  return (
    <section className="card padded part" aria-label={t('tune.save')}>
      <h2>{t('tune.save')}</h2>
      <p className="quiet small">{t('tune.save.about')}</p>
      {error ? <Failure error={error} /> : null}
      {saved ? (
        <Notice title={t('tune.saved', { name: saved })} tone="good">
          <p className="row">
            <Link to={`/compare?col=${encodeURIComponent(`${definition.base}~~`)}&col=${encodeURIComponent(`${saved}~~`)}`} className="button compact">{t('tune.saved.compare', { preset: definition.base, name: saved })}</Link>
          </p>
        </Notice>
      ) : (
        <form className="new-list" onSubmit={(e) => (e.preventDefault(), name && void save())}>
          <Field label={t('tune.save.name')} hint={t('tune.save.name.hint')}>
            {(id, hint) => <input id={id} className="input" value={name} maxLength={64} pattern="[a-z0-9][a-z0-9_\-]*" autoComplete="off" spellCheck={false} aria-describedby={hint} onChange={(e) => setName(e.target.value)} />}
          </Field>
          <button type="submit" className="button primary" disabled={!name}>{t('tune.save')}</button>
        </form>
      )}
      <details>
        <summary>{t('tune.definition')}</summary>
        <Code label={t('tune.definition')} text={JSON.stringify(definition, null, 2)} />
      </details>
    </section>
  )
}
