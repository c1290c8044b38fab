import { headers } from './api'

/** Follows a job's server-sent events; EventSource itself cannot present a key. */
export async function follow<T>(url: string, signal: AbortSignal, see: (data: T) => void) {
  const answer = await fetch(url, { headers: { ...headers(), Accept: 'text/event-stream' }, signal })
  if (!answer.ok || !answer.body) return
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let held = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    held += value
    const events = held.split('\n\n')
    held = events.pop() ?? ''
    for (const event of events) {
      const data = event.split('\n').filter((l) => l.startsWith('data:')).map((l) => l.slice(5).trim()).join('\n')
      if (data) see(JSON.parse(data) as T)
    }
  }
}
