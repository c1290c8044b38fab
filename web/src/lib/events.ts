import { headers, problem } from './api'

/** A server-sent event: its name, and its data as JSON has it. */
export type See = (name: string, data: unknown) => void

/** The events that are whole in what was heard, and the rest: the beginning of one that is still to come. */
export function eventsIn(heard: string): { events: { name: string; data: unknown }[]; rest: string } {
  const parts = heard.split('\n\n')
  const rest = parts.pop() ?? ''
  const events = parts.flatMap((part) => {
    const lines = part.split('\n')
    const of = (member: string) => lines.filter((l) => l.startsWith(`${member}:`)).map((l) => l.slice(member.length + 1).trim()).join('\n')
    return of('data') ? [{ name: of('event'), data: JSON.parse(of('data')) as unknown }] : [] // others only keep the line open
  })
  return { events, rest }
}

/** Tells the server-sent events of an answer as they come; EventSource itself can neither post nor present a key. */
export async function stream(method: string, url: string, body: unknown, signal: AbortSignal, see: See) {
  const answer = await fetch(url, {
    method,
    headers: { ...headers(body === undefined ? undefined : 'application/json'), Accept: 'text/event-stream' },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  })
  if (!answer.ok || !answer.body) throw problem(answer.status, await answer.text())
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let held = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const { events, rest } = eventsIn(held + value)
    held = rest
    for (const { name, data } of events) see(name, data)
  }
}

/** Follows a job's events. */
export const follow = <T>(url: string, signal: AbortSignal, see: (data: T) => void) =>
  stream('GET', url, undefined, signal, (_, data) => see(data as T)).catch((error: unknown) => {
    if (signal.aborted) throw error // a stream that fails is asked for by other means
  })
