/** Milliseconds with as many digits as they deserve. */
export function ms(value: number): string {
  if (value > 0 && value < 0.005) return '<0.01'
  if (value < 0.095) return value.toFixed(2)
  if (value < 9.95) return value.toFixed(1)
  return Math.round(value).toString()
}

export function bytes(n: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let i = 0
  while (n >= 1000 && i < units.length - 1) {
    n /= 1000
    i++
  }
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`
}

export const percent = (share: number) => `${Math.round(share * 100)} %`

/** A probability as a percentage that never says none or all. */
export function chance(p: number): string {
  if (p < 0.01) return '<1 %'
  return p > 0.99 ? '>99 %' : percent(p)
}

/** The p of a test, which is never nothing. */
export const chanceOf = (p: number) => (p < 0.0001 ? '<0.0001' : p.toFixed(4))

/** A number as it is, short; a dash where there is none. */
export function number(value: number | null | undefined, digits = 4): string {
  return value === null || value === undefined ? '–' : value.toFixed(digits)
}

/** Saves text as a file of the user's. */
export function download(name: string, text: string, type = 'text/plain') {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}

/** One field of a CSV line; a leading = + - @ would run, also after a tab or carriage return that is dropped, as a formula. */
export function csv(value: unknown): string {
  let text = String(value ?? '')
  if (/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** What a document is called. A file of a folder has its path: others of that name stand beside it. */
export function documentName(d: { document_id: string; document_name?: string | null }): string {
  const name = d.document_name || d.document_id
  return d.document_id.endsWith(`/${name}`) ? d.document_id : name
}
