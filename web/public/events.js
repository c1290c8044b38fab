// Tells a Hybridge gateway what users do with answers; see docs/guide/en/events.md.
const make = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(36)).join('.')
const kept = (store, name) => {
  try { return store()[name] ??= make() } catch { return make() }
}

export function track({ url = '/v1/events', headers = () => ({}), application } = {}) {
  const client_id = kept(() => localStorage, 'hybridge.client')
  const session_id = kept(() => sessionStorage, 'hybridge.session')
  let queue = [], timer, skew = 0, left
  const later = (ms) => timer ??= setTimeout(send, ms)
  const again = (batch) => { queue = [...batch, ...queue].slice(0, 1000); later(30000) }
  function send() {
    timer = clearTimeout(timer)
    while (queue.length) {
      const events = queue.splice(0, 100)
      fetch(url, { method: 'POST', keepalive: true, body: JSON.stringify({ events }),
        headers: { 'Content-Type': 'application/json', ...headers() } })
        .then((r) => r.status > 428 && again(events), () => again(events))
    }
  }
  function tell(action_name, query_id, hit, ordinal, more) {
    queue.push({ timestamp: new Date(Date.now() + skew), event_id: make(), query_id, client_id, application, action_name,
      event_attributes: { session_id, object: hit && { object_id: hit.knowledge_base + '/' + hit.id },
        position: ordinal && { ordinal }, ...more } })
    later(2000)
  }
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) { if (left) left.at = Date.now(); send() }
    else if (left?.at) { tell('dwell', ...left, { dwell_ms: Date.now() - left.at }); left = 0 }
  })
  return {
    ids: { client_id, session_id }, tell, send,
    shown({ query_id, hits }, offset = 0) {
      const fast = parseInt(query_id.replace('-', '').slice(0, 12), 16) - Date.now()
      skew = query_id[14] == 7 && Math.abs(fast) > 6e4 ? fast : 0
      hits.forEach((hit, i) => tell('impression', query_id, hit, offset + i + 1))
    },
    clicked(...of) { tell('click', ...left = of) },
  }
}
