// The ten tasks of docs/tasks.md, each walked in English and in Chinese on a gateway of their own that logs what is asked.
import type { Browser } from '@playwright/test'
import { expect, test, type Language } from './fixture'
import { handbook, nameOf, questions } from './handbook'
import { ownGateway } from './own-gateway'
import { walked, type Walk } from './walk'

const kb = 'handbook'
let address = ''
let stop = async () => {}
test.beforeAll(async () => {
  [address, stop] = await ownGateway({ HYBRIDGE_EVENTS_ENABLED: 'true' }, '--embedding-url', process.env.HYBRIDGE_TEST_EMBEDDING_URL ?? '', '--embedding-model', 'multilingual-e5-small')
})
test.afterAll(() => stop())
test.use({ guard: async ({}, use) => use() }) // each walk watches its own page

async function ask<T>(method: string, path: string, body?: unknown, key = ''): Promise<T> {
  const lines = typeof body === 'string'
  const answer = await fetch(address + path, {
    method, body: lines || body === undefined ? body as string | undefined : JSON.stringify(body),
    headers: { ...(body === undefined ? {} : { 'Content-Type': lines ? 'application/x-ndjson' : 'application/json' }), ...(key ? { Authorization: `Bearer ${key}` } : {}) },
  })
  const text = await answer.text()
  if (!answer.ok && method !== 'DELETE') throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return (answer.ok && text && !lines ? JSON.parse(text) : undefined) as T
}

/** The handbook in the reader's language, made anew; with vectors, which take their time, only where they matter. */
async function open(language: Language, spec: object = { dimensions: 0 }) {
  await ask('DELETE', `/v1/knowledge-bases/${kb}`)
  await ask('POST', '/v1/knowledge-bases', { id: kb, name: nameOf[language], ...spec })
  await ask('POST', `/v1/knowledge-bases/${kb}/documents?refresh=true`, handbook(language).map((c) => JSON.stringify(c)).join('\n'))
}

/** Walks a task in both languages, with what is to be there before it. */
const task = (name: string, before: (language: Language) => Promise<unknown>, walk: (w: Walk, language: Language) => Promise<void>, key?: () => string) =>
  test(name, async ({ browser }: { browser: Browser }) => walked(browser, address, { before, walk: (w) => walk(w, w.language), key }))

const sides = (w: Walk) => w.page.locator('.side')

task('find where something is said and see it in its document', open, async (w, language) => {
  await w.ask({ en: 'are opened cosmetics returned', zh: '开封的化妆品能退吗' }[language])
  await w.click(w.page.locator('.hit h3 a').first())
  await expect(w.page.locator('.passage.chosen mark').first()).toBeVisible()
  await expect(w.page.locator('.passage')).toHaveCount(3)
  await w.end('find')
})

task('learn why a passage is not found', open, async (w, language) => {
  await w.ask({ en: 'wheelchair', zh: '轮椅' }[language])
  await w.click(w.page.getByRole('button', { name: w.t('whynot.ask') }))
  const dialog = w.page.getByRole('dialog')
  await w.click(dialog.getByRole('option', { name: { en: 'Visiting.md', zh: '到店.md' }[language] }))
  await w.click(dialog.getByRole('option').filter({ hasText: { en: 'Access', zh: '无障碍' }[language] }))
  await expect(dialog.locator('.told')).toContainText(w.t('why.out'))
  await w.end('missing')
})

const withVectors = (language: Language) => open(language, {})

task('compare two presets on questions of one\'s own', withVectors, async (w, language) => {
  await w.go('nav.compare')
  await w.type(w.page.getByRole('textbox', { name: w.t('compare.label') }), questions[language].slice(0, 5).map(([q]) => q).join('\n'))
  await w.click(w.button('compare.go'))
  await w.click(w.button('compare.remove', { n: 1 }))
  await expect(sides(w)).toHaveCount(2)
  await expect(w.page.getByText(w.t('compare.list.progress', { done: 5, all: 5 }))).toBeVisible()
  await w.end('compare')
})

task('judge hits and read nDCG', withVectors, async (w, language) => {
  await w.go('nav.compare')
  await w.type(w.page.getByRole('textbox', { name: w.t('compare.label') }), questions[language][0]![0])
  await w.press('Enter')
  const card = (n: number) => sides(w).first().locator('.compared').nth(n)
  await w.click(card(0).getByRole('button', { name: w.t('compare.good') }))
  await w.click(card(1).getByRole('button', { name: w.t('compare.bad') }))
  await expect(w.page.locator('.side .measured')).toHaveCount(3)
  await w.end('judge')
})

/** Questions whose answers somebody has judged: each is of the one chunk that has it. */
async function judged(language: Language) {
  await withVectors(language)
  for (const path of ['/v1/query-sets/visitors', '/v1/presets/default']) await ask('DELETE', path)
  await ask('PUT', '/v1/query-sets/visitors', { name: { en: 'Visitors', zh: '顾客的问题' }[language], knowledge_bases: [kb] })
  await ask('POST', '/v1/query-sets/visitors/queries', { queries: questions[language].map(([text], i) => ({ id: `q${i}`, text })) })
  await ask('PUT', '/v1/judgments/visitors-ada', { query_set: 'visitors', name: 'Ada', max_grade: 10 })
  // A judge whose order is that of vectors: they have the best possible nDCG, and words alone far less.
  const judgments = await Promise.all(questions[language].map(async ([query], i) => {
    const { hits } = await ask<{ hits: { id: string }[] }>('POST', '/v1/search', { query, knowledge_bases: [kb], preset: 'vector', top_k: 10 })
    return hits.map(({ id }, rank) => ({ query_id: `q${i}`, knowledge_base: kb, chunk_id: id, grade: 10 - rank }))
  }))
  await ask('POST', '/v1/judgments/visitors-ada/judgments', { judgments: judgments.flat() })
}

task('prove that one preset beats another and make it the default', judged, async (w) => {
  await w.go('nav.evaluate')
  await w.click(w.page.getByRole('checkbox', { name: w.t('eval.presets.first', { preset: 'balanced' }) })) // vector against text it is
  await w.click(w.button('eval.start'))
  await w.click(w.button('eval.promote'))
  await w.click(w.page.getByRole('dialog').getByRole('button', { name: w.t('eval.promote') }))
  await expect(w.page.getByRole('link', { name: w.t('eval.promoted.see') })).toBeVisible()
  const { default: standard } = await ask<{ default: string }>('GET', '/v1/presets')
  expect(standard).toBe('default')
  await w.end('prove')
})

/** A mapping that somebody has changed: words in titles count three times. */
async function changed(language: Language) {
  await ask('DELETE', '/v1/presets/default')
  await open(language)
  const plan = await ask<{ id: string }>('POST', `/v1/mappings/${kb}/plan`, { changes: { fields: { title: 3 } } })
  await ask('POST', `/v1/mappings/${kb}/apply`, { plan: plan.id })
  await expect.poll(async () => (await ask<{ state: string }>('GET', `/v1/mappings/${kb}/status`)).state).toBe('switched')
}

task('undo a change of a mapping', changed, async (w) => {
  await w.go('nav.mappings')
  await w.click(w.button('map.action.rollback'))
  await w.click(w.page.getByRole('dialog').getByRole('button', { name: w.t('map.action.rollback') }))
  await expect(w.page.getByRole('region', { name: w.t('map.status') }).getByRole('status').first()).toContainText(w.t('map.state.rolled_back'))
  expect(await ask('GET', `/v1/knowledge-bases/${kb}`)).not.toHaveProperty('fields')
  await w.end('mapping')
})

const unnamed = async (language: Language) => {
  await open(language)
  await ask('PUT', '/v1/synonyms/global', { text: '' })
}

task('teach a synonym and see what it does', unnamed, async (w, language) => {
  await w.go('nav.synonyms')
  await w.type(w.page.getByRole('textbox', { name: w.t('syn.rules') }), { en: 'elevator, lift', zh: '升降机, 电梯' }[language])
  await w.type(w.page.getByLabel(w.t('syn.try')), { en: 'elevator', zh: '升降机' }[language])
  await w.click(w.button('syn.try.go'))
  await expect(w.page.locator('.trial').last()).toContainText({ en: 'lift', zh: '电梯' }[language])
  await w.click(w.button('syn.save'))
  await expect(w.page.getByText(w.t('syn.inuse'), { exact: true })).toBeVisible()
  const query = { en: 'elevator', zh: '升降机' }[language]
  const first = async () => (await ask<{ hits: { id: string }[] }>('POST', '/v1/search', { query, knowledge_bases: [kb] })).hits[0]?.id
  await expect.poll(first).toBe('c9') // a version of before is in use until this one is saved
  await w.end('synonym')
})

task('load files and see that they can be searched', open, async (w, language) => {
  const file = { en: ['parking.md', '# Parking\n\nBicycles may stand in the yard.'], zh: ['停车.md', '# 停车\n\n自行车可以停在院子里。'] }[language] as [string, string]
  await w.go('nav.bases')
  await w.click(w.button('bases.upload.to', { name: nameOf[language] }))
  const dialog = w.page.getByRole('dialog')
  await w.give(dialog.getByLabel(w.t('bases.upload.choose')), [{ name: file[0], mimeType: 'text/markdown', buffer: Buffer.from(file[1]) }])
  await expect(w.page.getByRole('region', { name: w.t('uploads.title') })).toContainText(w.t('uploads.count', { done: 1, all: 1 }))
  await w.press('Escape')
  await w.go('nav.search')
  await w.ask({ en: 'where may bicycles stand', zh: '自行车停在哪里' }[language])
  await expect(w.page.locator('.hit').first()).toContainText(file[0])
  await w.end('load')
})

let rulesVersion = 0 // numbers go on from those of a knowledge base that was deleted

/** Words that people search for in vain. */
async function searchedInVain(language: Language) {
  await open(language)
  rulesVersion = (await ask<{ version: number }>('PUT', `/v1/rules/${kb}`, { rules: [] })).version
  const asked = { en: 'wheelchair', zh: '轮椅' }[language]
  for (let i = 0; i < 3; i++) await ask('POST', '/v1/search', { query: asked, knowledge_bases: [kb] })
  const found = async () => JSON.stringify(await ask('GET', `/v1/events/analytics?knowledge_base=${kb}&limit=20&from=${new Date(Date.now() - 864e5).toISOString()}`))
  await expect.poll(found).toContain(asked)
}

task('see what users did not find and put it right', searchedInVain, async (w, language) => {
  const asked = { en: 'wheelchair', zh: '轮椅' }[language]
  await w.go('nav.evaluate')
  await w.click(w.page.getByRole('link', { name: w.t('eval.view.analytics') }))
  await expect(w.page.getByRole('region', { name: w.t('ana.zero_result.title') })).toContainText(asked)
  await w.go('nav.rules')
  await w.click(w.button('rules.add'))
  await w.type(w.page.getByRole('textbox', { name: w.t('rules.phrases') }), asked)
  await w.type(w.page.getByRole('textbox', { name: w.t('rules.pin') }), 'c9')
  await w.click(w.button('syn.save'))
  await expect(w.page.getByText(w.t('rules.saved', { version: rulesVersion + 1, rules: 1 }))).toBeVisible()
  await w.end('notfound')
})

// The last one: its first key locks the gateway.
let first = ''
async function locked(language: Language) {
  if (first === '') first = (await ask<{ key: string }>('POST', '/v1/keys', { name: 'owner', roles: ['search', 'write', 'manage', 'operate'] })).key
  return language
}

task('make a key for a program that may only search, and revoke it', locked, async (w, language) => {
  const name = { en: 'shop window', zh: '橱窗' }[language]
  await w.go('nav.keys')
  await w.click(w.button('apikeys.make'))
  const dialog = w.page.getByRole('dialog')
  await w.type(dialog.getByRole('textbox', { name: w.t('apikeys.name') }), name)
  await w.click(dialog.getByRole('button', { name: w.t('apikeys.make') }))
  const key = (await w.page.getByRole('region', { name: w.t('apikeys.secret', { name }) }).innerText()).trim()
  await w.click(w.button('app.close'))
  expect(await ask('GET', '/v1/presets', undefined, key)).toBeTruthy()
  await expect(ask('PUT', '/v1/presets/mine', { definition: { base: 'rrf' } }, key)).rejects.toThrow('403')
  await w.click(w.button('apikeys.revoke.name', { name }))
  await w.click(w.page.getByRole('dialog').getByRole('button', { name: w.t('apikeys.revoke'), exact: true }))
  await expect(w.page.getByRole('row', { name: new RegExp(name) }).getByText(w.t('apikeys.revoked'))).toBeVisible()
  await expect(ask('GET', '/v1/presets', undefined, key)).rejects.toThrow('401')
  await w.end('key')
}, () => first)
