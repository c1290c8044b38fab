import type { Choices } from '../lib/bases'
import { useText } from '../lib/i18n'

/** What is known of a preset; '' is the default. */
export const aboutPreset = (preset: string, choices: Choices) =>
  choices.details.find((d) => d.name === (preset || choices.standard) && !d.unused)

/** What a preset does and when to use it, as it says itself. */
export function PresetAbout({ preset, choices }: { preset: string; choices: Choices }) {
  const t = useText()
  const about = aboutPreset(preset, choices)
  if (!about) return null
  return (
    <>
      {about.description ? <span className="line">{about.description}</span> : null}
      {about.when_to_use ? <span className="line">{about.when_to_use}</span> : null}
      {about.base ? <span className="line">{t('search.preset.base', { base: about.base })}</span> : null}
    </>
  )
}
