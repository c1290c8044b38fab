import { guideAt, useLanguage } from '../../lib/i18n'

/** Where the numbers come from, and who says more of it. */
export function Needs() {
  const { t, language } = useLanguage()
  const guide = guideAt(language)
  return (
    <details className="needs card padded">
      <summary>{t('exp.needs')}</summary>
      <ol>
        <li>{t('exp.needs.client')}</li>
        <li>{t('exp.needs.log')} <a href={`${guide}events`}>{t('exp.needs.log.guide')}</a></li>
        <li>{t('exp.needs.clicks')}</li>
      </ol>
      <pre className="code" tabIndex={0} role="region" aria-label={t('exp.needs')}>{'POST /v1/search  {"query": "…", "client_id": "u-4711"}\nPOST /v1/events  {"events": [{"action_name": "click", "query_id": "…", "client_id": "u-4711", …}]}'}</pre>
      <p><a href={`${guide}experiments`}>{t('exp.needs.guide')}</a></p>
    </details>
  )
}
