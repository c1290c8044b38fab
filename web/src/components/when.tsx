import { useLanguage } from '../lib/i18n'

/** A day in the reader's language and time zone, whose title has the time too. */
export function When({ at }: { at: string }) {
  const locale = useLanguage().language === 'zh' ? 'zh-CN' : 'en'
  const time = new Date(at)
  return <time dateTime={at} title={time.toLocaleString(locale, { dateStyle: 'full', timeStyle: 'long' })}>{time.toLocaleDateString(locale, { dateStyle: 'medium' })}</time>
}
