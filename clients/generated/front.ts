// A client by openapi-typescript and openapi-fetch: front.js URL KEY writes, searches and reads an error,
// and prints what it is told, as JSON.
import createClient from 'openapi-fetch'
import type { paths } from './schema.js'

const [url, key] = process.argv.slice(2)
const api = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } })

const made = await api.POST('/v1/knowledge-bases', { body: { id: 'by-typescript' } })
const written = await api.POST('/v1/knowledge-bases/{kb}/documents', {
  params: { path: { kb: 'by-typescript' }, query: { refresh: true } },
  body: [{ id: 'c0', content: 'The workshop opens at nine in the morning.' }],
})
const found = await api.POST('/v1/search', { body: { query: 'When does the workshop open?', knowledge_bases: ['by-typescript'] } })
const missing = await api.POST('/v1/search', { body: { query: 'x', knowledge_bases: ['nothing'] } })
const code: string | undefined = missing.error?.code
console.log(JSON.stringify({ made: made.response.status, written: written.data, found: found.data, missing: missing.error, code }))
