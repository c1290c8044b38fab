import type { Page } from '@playwright/test'
import { accessible, ask, drop, expect, fill, inBothLanguages, test, text, writtenIn } from './fixture'

const t = (key: Parameters<typeof text>[1], values?: Parameters<typeof text>[2]) => text('en', key, values)

/** Every request to the API that is about a knowledge base, as "POST /v1/search {…}". */
function heard(page: Page): string[] {
  const all: string[] = []
  page.on('request', (r) => {
    const { pathname } = new URL(r.url())
    if (pathname.startsWith('/v1/') && !/^\/v1\/(knowledge-bases|presets)$/.test(pathname)) all.push(`${r.method()} ${pathname} ${r.postData() ?? ''}`)
  })
  return all
}

test.describe('a page that fails', () => {
  inBothLanguages('a file that does not arrive is told, the head stays, and trying again loads it', async (page, t) => {
    await page.goto('/')
    await page.route('**/assets/compare-*.js', (r) => r.abort())
    await page.getByRole('link', { name: t('nav.compare') }).click()
    const alert = page.getByRole('alert')
    await expect(alert).toContainText(t('failed.load'))
    await expect(alert).toContainText(t('failed.load.about'))
    await accessible(page)
    await page.getByRole('link', { name: t('nav.bases') }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(t('bases.title'))
    await page.getByRole('link', { name: t('nav.compare') }).click()
    await expect(alert).toContainText(t('failed.load'))
    await page.getByRole('button', { name: t('app.retry') }).click()
    await expect(alert).toContainText(t('failed.load'))
    await page.unroute('**/assets/compare-*.js')
    let reloaded = false
    page.on('framenavigated', () => (reloaded = true))
    await page.getByRole('button', { name: t('app.retry') }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(t('compare.title'))
    await expect(page.getByLabel(t('compare.label'))).toBeVisible()
    expect(reloaded).toBe(false)
  })

  inBothLanguages('a gateway that is away is told, and its return is enough', async (page, t) => {
    await page.goto('/')
    await expect(page.getByRole('heading', { name: t('search.start') })).toBeVisible()
    await page.context().setOffline(true)
    await page.getByRole('link', { name: t('nav.synonyms') }).click()
    await expect(page.getByRole('alert')).toContainText(t('error.unreachable'))
    await page.context().setOffline(false)
    await page.getByRole('button', { name: t('app.retry') }).click()
    await expect(page.getByRole('textbox', { name: t('syn.rules') })).toBeVisible()
  })

  inBothLanguages('a gateway that was upgraded meanwhile is told, and a reload brings its version', async (page, t) => {
    await page.goto('/')
    const newer = '<!doctype html><script type="module" crossorigin src="/assets/index-newer.js"></script>'
    await page.route('**/assets/playground-*.js', (r) => r.fulfill({ status: 404, json: { status: 404 } }))
    await page.route((url) => url.pathname === '/', (r) => r.fulfill({ contentType: 'text/html', body: newer }))
    await page.getByRole('link', { name: t('nav.playground') }).click()
    await expect(page.getByRole('alert')).toContainText(t('failed.updated'))
    await expect(page.getByRole('button', { name: t('app.retry') })).toHaveCount(0)
    await accessible(page)
    await page.unrouteAll()
    await page.getByRole('button', { name: t('app.reload') }).click()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(t('play.title'))
    await expect(page).toHaveURL(/\/playground$/)
  })

  inBothLanguages('a script error ends in the same place, and another address in another page', async (page, t) => {
    await page.route('**/v1/analyze', (r) => r.fulfill({ json: { tokens: [{ text: 'refund' }], known: 1 } }))
    await page.goto('/playground?kb=docs&q=refund')
    await expect(page.getByRole('alert')).toContainText(t('failed.script'))
    await expect(page.getByRole('alert')).toContainText(t('failed.script.about'))
    await page.unrouteAll()
    await page.getByRole('button', { name: t('app.retry') }).click()
    await expect(page.getByRole('tabpanel')).toContainText('refund')
    await page.route('**/v1/analyze', (r) => r.fulfill({ json: { tokens: [{ text: 'fused' }], known: 1 } }))
    await page.goto('/playground?kb=docs&q=fused')
    await expect(page.getByRole('alert')).toContainText(t('failed.script'))
    await page.getByRole('link', { name: t('nav.search') }).click()
    await expect(page.getByRole('heading', { name: t('search.start') })).toBeVisible()
  })
})

test.describe('an address that names what is not there', () => {
  const asked = '&q=' + encodeURIComponent('how are scores fused')
  const addresses = [`/?kb=ghost${asked}`, `/?kb=docs&kb=ghost${asked}`, `/compare?kb=ghost${asked}`, '/mappings?kb=ghost', '/synonyms?kb=ghost',
    `/playground?kb=ghost${asked}`, '/knowledge-bases?documents=ghost']
  for (const address of addresses) {
    inBothLanguages(`${address} says so and asks nothing of another knowledge base`, async (page, t) => {
      const requests = heard(page)
      await page.goto(address)
      const title = page.getByRole('heading', { level: 2 })
      await expect(title).toHaveText(t('base.unknown', { names: '“ghost”' }))
      await page.waitForLoadState('networkidle')
      expect(requests).toEqual([])
      await accessible(page)
    })
  }

  test('what there is can be chosen, and the question stays', async ({ page }) => {
    await page.goto(`/?kb=ghost${asked}`)
    const offers = page.getByRole('list', { name: t('base.offers') })
    await expect(offers.getByRole('link', { name: t('base.all') })).toHaveAttribute('href', /^\/\?q=/)
    await offers.getByRole('link').nth(1).click()
    await expect(page).toHaveURL(/q=how\+are\+scores\+fused&kb=\w+$/)
    await expect(page.locator('.hit').first()).toBeVisible()
  })

  test('one that was made meanwhile is found by looking again', async ({ page }) => {
    await drop('latecomer')
    await page.goto('/?kb=latecomer&q=refund')
    await expect(page.getByRole('heading', { level: 2 })).toHaveText(t('base.unknown', { names: '“latecomer”' }))
    await fill('latecomer', { dimensions: 0 }, [{ id: 'a', document_id: 'd', content: 'A refund takes a day.' }])
    try {
      await page.getByRole('button', { name: t('base.again') }).click()
      await expect(page.locator('.hit')).toHaveCount(1)
    } finally {
      await drop('latecomer')
    }
  })

  inBothLanguages('mappings of an attached one are refused by name', async (page, t) => {
    const attached = { ...(JSON.parse(await ask('GET', '/v1/knowledge-bases/docs')) as object), attach: { index: 'old' } }
    await page.route('**/v1/knowledge-bases', (r) => r.fulfill({ json: { knowledge_bases: [attached] } }))
    const requests = heard(page)
    await page.goto('/mappings?kb=docs')
    await expect(page.getByRole('heading', { level: 2 })).toHaveText(t('base.unsuited', { names: '“docs”' }))
    await expect(page.getByRole('button', { name: t('map.plan') })).toHaveCount(0)
    expect(requests).toEqual([])
  })

  inBothLanguages('an unknown address is a page for a browser, with status 404', async (page, t) => {
    const answer = await page.goto('/nowhere/at-all?x=1')
    expect(answer?.status()).toBe(404)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(t('app.notfound'))
    await page.getByRole('link', { name: t('app.notfound.go') }).click()
    await expect(page.getByRole('heading', { name: t('search.start') })).toBeVisible()
    const program = await page.request.get('/nowhere/at-all', { headers: { Accept: 'application/json' } })
    expect(program.status()).toBe(404)
    expect(program.headers()['content-type']).toBe('application/problem+json')
  })
})

test.describe('without a knowledge base', () => {
  const lacking = [['/compare', 'compare.nobase.about'], ['/playground', 'play.nobase.about'], ['/mappings', 'map.nobase.about']] as const
  for (const [address, about] of lacking) {
    inBothLanguages(`${address} says what to do and leads there`, async (page, t) => {
      await page.route('**/v1/knowledge-bases', (r) => r.fulfill({ json: { knowledge_bases: [] } }))
      await page.goto(address)
      await expect(page.getByRole('heading', { level: 2 })).toHaveText(t('base.none'))
      await expect(page.getByText(t(about))).toBeVisible()
      await accessible(page)
      await page.getByRole('main').getByRole('link', { name: t('search.nobase.go') }).click()
      await expect(page.getByRole('dialog', { name: t('bases.create.title') })).toBeVisible()
    })
  }

  inBothLanguages('mappings need one with a storage of its own', async (page, t) => {
    const attached = { ...(JSON.parse(await ask('GET', '/v1/knowledge-bases/docs')) as object), attach: { index: 'old' } }
    await page.route('**/v1/knowledge-bases', (r) => r.fulfill({ json: { knowledge_bases: [attached] } }))
    await page.goto('/mappings')
    await expect(page.getByRole('heading', { level: 2 })).toHaveText(t('base.none.suited'))
    await expect(page.getByText(t('map.nobase.about'))).toBeVisible()
    await expect(page.getByRole('main').getByRole('link', { name: t('search.nobase.go') })).toBeVisible()
  })
})

test.describe('synonyms that are not saved', () => {
  test.describe.configure({ mode: 'serial' })
  const id = 'unsaved-rules'
  const rules = `/synonyms?kb=${id}`
  const stored = async () => (JSON.parse(await ask('GET', `/v1/synonyms/${id}`)) as { text?: string }).text ?? ''

  test.beforeEach(() => fill(id, { dimensions: 0 }, [{ id: 'a', document_id: 'd', content: 'refund' }]))
  test.afterEach(() => drop(id))

  inBothLanguages('a link asks: stay keeps them, discard loses them, saving goes on', async (page, t, language) => {
    const draft = `gateway, portal${language}`
    const editor = page.getByRole('textbox', { name: t('syn.rules') })
    const dialog = page.getByRole('dialog', { name: t('unsaved.title') })
    const search = page.getByRole('link', { name: t('nav.search') })
    await page.goto(rules)
    const before = await writtenIn(editor)
    await editor.fill(draft)
    await search.click()
    await accessible(page)
    await dialog.getByRole('button', { name: t('unsaved.stay') }).click()
    await expect(dialog).toBeHidden()
    await expect(editor).toHaveText(draft)
    await expect(page).toHaveURL(new RegExp(`kb=${id}$`))

    await search.click()
    await page.keyboard.press('Escape')
    await expect(dialog).toBeHidden()
    await expect(editor).toHaveText(draft)

    await search.click()
    await dialog.getByRole('button', { name: t('unsaved.discard') }).click()
    await expect(page.getByRole('heading', { name: t('search.start') })).toBeVisible()
    expect(await stored()).toBe(before)

    await page.goto(rules)
    await editor.fill(draft)
    await page.getByRole('combobox', { name: t('syn.set') }).selectOption('global')
    await dialog.getByRole('button', { name: t('unsaved.save') }).click()
    await expect(page).toHaveURL(/\/synonyms$/)
    expect(await stored()).toBe(draft)
    await search.click() // nothing is left to ask about
    await expect(page.getByRole('heading', { name: t('search.start') })).toBeVisible()
  })

  test('rules that cannot be saved keep the page', async ({ page }) => {
    const editor = page.getByRole('textbox', { name: t('syn.rules') })
    await page.goto(rules)
    await editor.fill('broken => => rule')
    await page.getByRole('link', { name: t('nav.search') }).click()
    await page.getByRole('dialog').getByRole('button', { name: t('unsaved.save') }).click()
    await expect(page.getByRole('alert')).toBeVisible()
    await expect(page.getByRole('dialog')).toBeHidden()
    await expect(editor).toHaveText('broken => => rule')
  })

  test('back and forward ask as well, and lead where they would have led', async ({ page }) => {
    const editor = page.getByRole('textbox', { name: t('syn.rules') })
    const dialog = page.getByRole('dialog', { name: t('unsaved.title') })
    const nav = (name: Parameters<typeof t>[0]) => page.getByRole('navigation').getByRole('link', { name: t(name), exact: true })
    await page.goto('/')
    await nav('nav.bases').click()
    await nav('nav.synonyms').click()
    await nav('nav.playground').click()
    await expect(page).toHaveURL(/playground$/)
    await page.goBack()
    await editor.fill('kept, held')
    await page.goBack()
    await expect(dialog).toBeVisible()
    await expect(page).toHaveURL(/synonyms$/)
    await page.goBack() // again, while the question stands
    await expect(page).toHaveURL(/synonyms$/)
    await dialog.getByRole('button', { name: t('unsaved.stay') }).click()
    await expect(editor).toHaveText('kept, held')
    await page.goForward()
    await dialog.getByRole('button', { name: t('unsaved.stay') }).click()
    await expect(page).toHaveURL(/synonyms$/)
    await expect(editor).toHaveText('kept, held')
    await page.goBack()
    await dialog.getByRole('button', { name: t('unsaved.discard') }).click()
    await expect(page).toHaveURL(/knowledge-bases$/)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(t('bases.title'))
    await page.goBack()
    await expect(page.getByRole('heading', { name: t('search.start') })).toBeVisible()
    await page.goForward()
    await page.goForward()
    await expect(editor).toHaveText('')
    await page.goForward()
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(t('play.title'))
  })

  test('an older version is not taken over them unasked', async ({ page }) => {
    let version = (JSON.parse(await ask('GET', `/v1/synonyms/${id}`)) as { version: number }).version
    const put = async (text: string) => {
      const answer = await ask('PUT', `/v1/synonyms/${id}`, JSON.stringify({ text, base_version: version }))
      version = (JSON.parse(answer) as { version: number }).version
    }
    await put('one, two')
    const older = version
    await put('three, four')
    const editor = page.getByRole('textbox', { name: t('syn.rules') })
    await page.goto(rules)
    await editor.fill('mine, own')
    await page.getByRole('button', { name: t('syn.rollback', { version: older }) }).click()
    await page.getByRole('dialog').getByRole('button', { name: t('unsaved.stay') }).click()
    await expect(editor).toHaveText('mine, own')
    await page.getByRole('button', { name: t('syn.rollback', { version: older }) }).click()
    await page.getByRole('dialog').getByRole('button', { name: t('unsaved.discard') }).click()
    await expect(editor).toHaveText('one, two')
  })
})

// The browser's own question is a dialog, at which the other tests fail.
test.describe('closing the tab', () => {
  for (const [what, change, dialogs] of [['asks while there are unsaved synonyms', true, 1], ['asks nothing otherwise', false, 0]] as const) {
    test(what, async ({ page }) => {
      page.removeAllListeners('dialog')
      const asked: string[] = []
      page.on('dialog', (d) => (asked.push(d.type()), void d.accept()))
      await page.goto('/synonyms')
      const editor = page.getByRole('textbox', { name: t('syn.rules') })
      const before = await writtenIn(editor)
      await editor.fill('a, b')
      if (!change) await editor.fill(before)
      await expect(page.getByText(t('syn.changed'))).toHaveCount(change ? 1 : 0)
      const closed = page.waitForEvent('close')
      await page.close({ runBeforeUnload: true })
      await closed
      expect(asked).toEqual(Array.from({ length: dialogs }, () => 'beforeunload'))
    })
  }
})
