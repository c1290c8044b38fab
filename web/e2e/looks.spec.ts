// How the page looks, of states whose content is fixed. Letters and edges differ from one browser and from one set of fonts to the next, so
// pictures are compared only where they were drawn: by the same major version of Chromium, with fonts that are as wide.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from '@playwright/test'
import { expect, faultsOf, test, text } from './fixture'
import { ownGateway } from './own-gateway'
import { byDesign } from './skip'

const folder = join(import.meta.dirname, 'looks')
const drawn = join(folder, 'drawn-with.json')

interface Machine { chromium: string; widths: number[] }

/** The browser, and how wide it writes Latin, Chinese and code. */
async function machineOf(browser: Browser, page: Page): Promise<Machine> {
  await page.goto('/nowhere')
  const widths = await page.evaluate(() => ['system-ui, sans-serif', 'monospace'].flatMap((family) => ['How wide is Xg 0.123?', '多宽：关键词与向量'].map((said) => {
    const canvas = document.createElement('canvas').getContext('2d')!
    canvas.font = `20px ${family}`
    return Math.round(canvas.measureText(said).width)
  })))
  return { chromium: browser.version().split('.')[0] ?? '', widths }
}

let address = ''
let stop = async () => {}
test.beforeAll(async () => {
  [address, stop] = await ownGateway({}) // one that no other test fills, without a model
})
test.afterAll(() => stop())
test.use({
  baseURL: async ({}, use) => use(address),
  guard: async ({ page }, use) => {
    const faults = faultsOf(page, address)
    await use()
    expect(faults).toEqual([])
  },
})

test.beforeEach(async ({ browser, page }, info) => {
  const here = JSON.stringify(await machineOf(browser, page))
  if (info.config.updateSnapshots === 'all') writeFileSync(drawn, here + '\n')
  const there = existsSync(drawn) ? readFileSync(drawn, 'utf8').trim() : 'nothing'
  byDesign(here !== there, `pictures are of ${there}, and this is ${here}: --update-snapshots draws them anew`)
})

const t = (key: Parameters<typeof text>[1]) => text('en', key)

interface Look { address: string; width?: number; dark?: boolean; ready: (page: Page) => Promise<void>; before?: (page: Page) => Promise<unknown> }

const empty = (page: Page) => page.route('**/v1/knowledge-bases', (r) => r.fulfill({ json: { knowledge_bases: [] } }))
const one = (page: Page) => page.route('**/v1/knowledge-bases', (r) => r.fulfill({ json: { knowledge_bases: [
  { id: 'handbook', name: 'Handbook', engine: 'embedded', engines: ['embedded'], kind: 'chunks', dimensions: 384 },
] } }))
const seen = (of: string) => (page: Page) => expect(page.locator(of).first()).toBeVisible()

/** The last of what the first steps load. */
const saidHow = (page: Page) => expect(page.getByText('hybridge serve')).toBeVisible()

const looks: Record<string, Look> = {
  'search, nothing asked': { address: '/', before: one, ready: seen('main h2') },
  'search, nothing asked, dark': { address: '/', dark: true, before: one, ready: seen('main h2') },
  'search, nothing asked, narrow': { address: '/', width: 375, before: one, ready: seen('main h2') },
  'first steps': { address: '/', before: empty, ready: saidHow },
  'first steps, narrow and dark': { address: '/', width: 375, dark: true, before: empty, ready: saidHow },
  'compare, nothing asked': { address: '/compare?kb=handbook', before: one, ready: seen('main h1') },
  'a knowledge base that is not there': { address: '/mappings?kb=gone', before: one, ready: seen('main h2') },
  'a gateway that is away': { address: '/presets', before: (page) => page.route('**/v1/**', (r) => r.abort()), ready: seen('[role=alert]') },
  'nothing at an address': { address: '/nowhere', ready: seen('main h1') },
}

for (const [name, { address: at, width = 1280, dark, before, ready }] of Object.entries(looks)) {
  test(`looks: ${name}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: width === 375 ? 812 : 800 })
    await before?.(page)
    await page.goto(at)
    await ready(page)
    await expect(page.locator('.skeleton')).toHaveCount(0)
    await expect(page).toHaveScreenshot(`${name.replace(/\W+/g, '-')}.png`, { animations: 'disabled', caret: 'hide', maxDiffPixelRatio: 0.02, timeout: 20_000 })
  })
}

// What is opened by keys is laid over the page.
test('looks: the palette', async ({ page }) => {
  await one(page)
  await page.goto('/nowhere')
  await page.getByRole('button', { name: t('keys.palette') }).click()
  await expect(page.getByRole('dialog').getByRole('option').first()).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveScreenshot('palette.png', { animations: 'disabled', caret: 'hide', maxDiffPixelRatio: 0.02 })
})
