import type { Translate } from './i18n'

/** Where in its source a chunk is: lines of a text, or pages, whose places on the page follow. */
export function placeOf(positions: ((number[] | null)[]) | null | undefined, t: Translate): string {
  const said = (positions ?? []).map((p) => {
    if (!p?.length) return ''
    if (p.length === 2 && p[0] === p[1]) return t('hit.line', { line: p[0] ?? 0 })
    return p.length === 2 ? t('hit.lines', { first: p[0] ?? 0, last: p[1] ?? 0 }) : t('hit.page', { page: p[0] ?? 0 })
  })
  return [...new Set(said)].filter(Boolean).join(', ')
}
