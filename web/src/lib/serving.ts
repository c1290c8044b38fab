import { ApiError } from './api'

const entry = /<script[^>]*\ssrc="([^"]+)"/

/** Whether the gateway serves the application that this page was loaded from, told by its first script, whose name has the hash of all. */
export async function serving(signal: AbortSignal): Promise<'this' | 'another'> {
  const answer = await fetch('/', { headers: { Accept: 'text/html' }, cache: 'no-store', signal }).catch(() => null)
  if (!answer?.ok) throw new ApiError(answer?.status ?? 0, 'unreachable', '')
  const own = document.querySelector('script[src]')?.getAttribute('src')
  return entry.exec(await answer.text())?.[1] === own ? 'this' : 'another'
}
