import type { Language } from './i18n'
import { localeOf } from './languages'

const units = [['day', 86_400], ['hour', 3600], ['minute', 60], ['second', 1]] as const

const say = (n: number, unit: string, language: Language) =>
  new Intl.NumberFormat(localeOf(language), { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: n < 10 && unit === 'second' ? 1 : 0 }).format(n)

/** A time as people say it: 0.4 seconds, 12 seconds, 4 minutes 10 seconds, 2 hours 5 minutes. */
export function duration(seconds: number, language: Language): string {
  if (seconds < 0.05) return `< ${say(0.1, 'second', language)}`
  if (seconds < 10) return say(seconds, 'second', language)
  const whole = Math.round(seconds)
  const at = units.findIndex(([, size]) => whole >= size)
  const [unit, size] = units[at] ?? units[3]
  const next = units[at + 1]
  const rest = next ? Math.floor((whole % size) / next[1]) : 0
  const first = say(Math.floor(whole / size), unit, language)
  return next && rest > 0 ? `${first}${language === 'zh' ? '' : ' '}${say(rest, next[0], language)}` : first
}

/** About how long something takes, in one unit. */
export function roughly(seconds: number, language: Language): string {
  if (seconds < 1) return `< ${say(1, 'second', language)}`
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? units[3]
  return say(Math.round(seconds / size), unit, language)
}

/** A count with the marks of the language, as 12,345. */
export const count = (n: number, language: Language) => n.toLocaleString(localeOf(language))
