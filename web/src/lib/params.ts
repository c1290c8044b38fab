// Parameters of an address, without the browser that has it.

export type Params = Record<string, string | string[] | null>

/** Changes parameters; null, '' and [] remove one. */
export function merged(search: string, change: Params): string {
  const params = new URLSearchParams(search)
  for (const [name, value] of Object.entries(change)) {
    params.delete(name)
    for (const v of Array.isArray(value) ? value : value ? [value] : []) params.append(name, v)
  }
  const text = params.toString()
  return text ? `?${text}` : ''
}

/** A number of the address, within its bounds; what is none counts as left out. */
export function numberOf<T>(params: URLSearchParams, name: string, [low, high]: [number, number], otherwise: T): number | T {
  const text = params.get(name)?.trim()
  const n = text ? Number(text) : NaN
  return Number.isFinite(n) ? Math.min(high, Math.max(low, n)) : otherwise
}
