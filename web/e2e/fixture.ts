import { expect, test as plain, type Locator, type Page } from '@playwright/test'
import axe from 'axe-core'
import firstEn from '../src/i18n/en.json' with { type: 'json' }
import pagesEn from '../src/i18n/pages.en.json' with { type: 'json' }
import pagesZh from '../src/i18n/pages.zh.json' with { type: 'json' }
import firstZh from '../src/i18n/zh.json' with { type: 'json' }
import { start } from './gateway'

export type Language = 'en' | 'zh'
const en = { ...firstEn, ...pagesEn }
export const texts = { en, zh: { ...firstZh, ...pagesZh } }

export const base = () => process.env.HYBRIDGE_TEST_URL ?? ''

/** A text of the application, with its values put in. */
export function text(language: Language, key: keyof typeof en, values: Record<string, string | number> = {}) {
  return texts[language][key].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
}

/** Collects what must not happen on a page: a script error, a refused load, a request that leaves the machine. */
export function faultsOf(page: Page, address: string): string[] {
  const faults: string[] = []
  page.on('pageerror', (e) => faults.push(`script error: ${e.message}`))
  page.on('dialog', (d) => {
    faults.push(`dialog: ${d.message()}`)
    void d.dismiss()
  })
  page.on('console', (m) => {
    if (/Content Security Policy|Trusted|Warning:/i.test(m.text())) faults.push(m.text())
  })
  page.on('request', (r) => {
    if (!r.url().startsWith(address) && !/^(data|blob):/.test(r.url())) faults.push(`a request left the machine: ${r.url()}`)
  })
  return faults
}

/** A page that fails its test when any of that happens, of a gateway that the tests of a worker share. */
export const test = plain.extend<{ language: Language; guard: void }, { gateway: void }>({
  gateway: [async ({}, use) => {
    const stop = await start()
    await use()
    await stop()
  }, { scope: 'worker', auto: true, timeout: 480_000 }],
  language: ['en', { option: true }],
  baseURL: async ({}, use) => use(base()),
  locale: async ({ language }, use) => use(language === 'zh' ? 'zh-CN' : 'en-US'),
  guard: [async ({ page }, use) => {
    const faults = faultsOf(page, base())
    await use()
    expect(faults).toEqual([])
  }, { auto: true }],
})

/** Runs a flow in both languages. */
export function inBothLanguages(name: string, flow: (page: Page, t: (key: keyof typeof en, values?: Record<string, string | number>) => string, language: Language) => Promise<void>) {
  for (const language of ['en', 'zh'] as const) {
    plain.describe(language, () => {
      test.use({ language })
      test(name, async ({ page }) => flow(page, (key, values) => text(language, key, values), language))
    })
  }
}

/** What axe finds wrong; of a page that was looked at in another theme, colours alone are to be looked at. */
export async function accessible(page: Page, colours = false) {
  await page.evaluate(() => Promise.all(document.getAnimations().map((a) => (a.effect?.getTiming().iterations === Infinity ? null : a.finished))))
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  expect(await page.evaluate(async (rules) => {
    // What is well need not be told. Preloading would copy the styles of shadow roots into elements, which the page's policy refuses.
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run({
      resultTypes: ['violations'], preload: false, ...(rules ? { runOnly: rules } : {}),
    })
    return violations.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.html} ${n.failureSummary}`).join('\n  ')}`)
  }, colours ? ['color-contrast'] : null)).toEqual([])
}

/** The field of the search page that takes the question. */
/** Lets the timers of the page do what they would within some time, at once; it needs page.clock.install() before the page is opened. */
export async function ahead(page: Page, ms = 2000) {
  await page.clock.runFor(ms)
  await page.evaluate(() => undefined) // what they asked for has been sent
}

/** Waits until the gateway works on nothing but this question. */
export const atRest = () => expect.poll(async () => (await (await fetch(`${base()}/metrics`)).text()).includes('\nhybridge_http_requests_in_flight 1\n')).toBe(true)

export const questionOf = (page: Page) => page.getByRole('search').getByRole('combobox')

/** What is written in an editor of rules or requests, which is no field of the browser's. */
export const writtenIn = (editor: Locator) => editor.evaluate((e) => [...e.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\n'))

/** Asks the gateway directly. */
export async function ask(method: string, path: string, body?: string, contentType = 'application/json') {
  const answer = await fetch(base() + path, { method, body, headers: body === undefined ? {} : { 'Content-Type': contentType } })
  const answered = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${answered}`)
  return answered
}

/** A knowledge base with these chunks, made anew. */
export async function fill(id: string, spec: object, chunks: object[]) {
  await fetch(`${base()}/v1/knowledge-bases/${id}`, { method: 'DELETE' })
  await ask('POST', '/v1/knowledge-bases', JSON.stringify({ id, ...spec }))
  await ask('POST', `/v1/knowledge-bases/${id}/documents?refresh=true`, chunks.map((c) => JSON.stringify(c)).join('\n'), 'application/x-ndjson')
}

export const drop = (id: string) => fetch(`${base()}/v1/knowledge-bases/${id}`, { method: 'DELETE' })

export { expect }
