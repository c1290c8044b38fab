import { guideAt, useLanguage } from '../../lib/i18n'
import { Notice } from '../notice'

/** What to set so that there is something to tell. */
export function EventsOff({ title }: { title: string }) {
  const { t, language } = useLanguage()
  return (
    <Notice title={title}>
      <p>{t('ana.off.about')}</p>
      <pre className="code" tabIndex={0} role="region" aria-label={title}>{'events:\n  enabled: true'}</pre>
      <p><a href={`${guideAt(language)}events`}>{t('app.guide')}</a></p>
    </Notice>
  )
}
