import { useLanguage } from '../lib/i18n'
import { localeOf } from '../lib/languages'

/** A day in the reader's language and time zone, whose title has the time too. */
export function When({ at }: { at: string }) {
  const locale = localeOf(useLanguage().language)
  const time = new Date(at)
  return <time dateTime={at} title={time.toLocaleString(locale, { dateStyle: 'full', timeStyle: 'long' })}>{time.toLocaleDateString(locale, { dateStyle: 'medium' })}</time>
}
