import { contrast } from './colours'
import { accessible, expect, inBothLanguages, test, type Language } from './fixture'

const first = (language: Language) => `/guide/${language}/`
const said = {
  en: { find: 'Search', field: 'Search the guide', contents: 'Contents', within: 'On this page', skip: 'Skip to content', next: 'Next', asked: 'filter' },
  zh: { find: '搜索', field: '搜索手册', contents: '目录', within: '本页内容', skip: '跳到正文', next: '下一页', asked: '过滤' },
}

inBothLanguages('the bar leads to the guide in its language, and the guide back', async (page, t, language) => {
  await page.goto('/')
  await page.getByRole('link', { name: t('nav.guide'), exact: true }).click()
  await expect(page).toHaveURL(new RegExp(`${first(language)}$`))
  await expect(page.locator('html')).toHaveAttribute('lang', language === 'zh' ? 'zh-CN' : 'en')
  await page.getByRole('link', { name: 'Hybridge', exact: true }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(t('nav.search'))
})

test('the page of the API leads to the guide', async ({ page }) => {
  await page.goto('/docs')
  await page.getByRole('link', { name: 'Guide' }).click()
  await expect(page).toHaveURL(/\/guide\/en\/$/)
})

inBothLanguages('a question finds a section, and its link the heading', async (page, _, language) => {
  const words = said[language]
  await page.goto(first(language))
  await page.getByRole('searchbox', { name: words.field }).fill(words.asked)
  await page.getByRole('button', { name: words.find, exact: true }).click()
  const hit = page.getByRole('main').getByRole('listitem').first()
  await expect(hit.locator('mark').first()).toHaveText(new RegExp(words.asked, 'i'))
  await hit.getByRole('link').click()
  const anchor = decodeURIComponent(new URL(page.url()).hash.slice(1))
  await expect(page.locator(`[id="${anchor}"]`)).toBeInViewport()
})

inBothLanguages('the language is changed, and pages are turned', async (page, _, language) => {
  const other = language === 'en' ? 'zh' : 'en'
  await page.goto(first(language))
  const title = await page.getByRole('heading', { level: 1 }).textContent()
  const next = page.locator('a[rel=next]')
  await expect(next).toContainText(said[language].next)
  await next.click()
  await expect(page.getByRole('heading', { level: 1 })).not.toHaveText(title ?? '')
  await page.getByRole('link', { name: other === 'zh' ? '中文' : 'English' }).click()
  await expect(page).toHaveURL(new RegExp(`/guide/${other}/`))
})

test('keys reach the text first', async ({ page }) => {
  await page.goto(first('en'))
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: said.en.skip })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('main')).toBeFocused()
})

test('a narrow window opens the contents and the headings, without any script', async ({ browser, baseURL }) => {
  const context = await browser.newContext({ baseURL, viewport: { width: 375, height: 812 }, javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(first('en'))
  const contents = page.getByRole('navigation', { name: said.en.contents })
  await expect(contents).toBeHidden()
  await page.getByRole('button', { name: said.en.contents }).click()
  await expect(contents).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(contents).toBeHidden()
  await page.getByRole('button', { name: said.en.contents }).click()
  await contents.getByRole('link').nth(1).click()
  await expect(contents).toBeHidden()
  await context.close()
})

for (const width of [375, 1440]) {
  inBothLanguages(`everybody can read it at ${width} pixels, light and dark`, async (page, _, language) => {
    await page.setViewportSize({ width, height: 900 })
    const addresses = [first(language), '/guide/reference/postgresql', `/guide/${language}/search?q=${said[language].asked}`, `/guide/${language}/nothing`]
    for (const address of addresses) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.goto(address)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await accessible(page, colorScheme === 'dark')
        const colours = await page.locator('main h1').evaluate((h) => [getComputedStyle(h).color, getComputedStyle(document.body).backgroundColor])
        expect(contrast(colours[0] ?? '', colours[1] ?? '')).toBeGreaterThan(12)
      }
    }
  })
}

inBothLanguages('no page is wider than a narrow window', async (page, _, language) => {
  await page.setViewportSize({ width: 375, height: 812 })
  await page.goto(first(language))
  const pages = await page.locator('#contents a').evaluateAll((links) => links.map((a) => a.getAttribute('href') ?? ''))
  expect(pages.length).toBeGreaterThan(15)
  for (const address of pages) {
    await page.goto(address)
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    expect(beyond, address).toBeLessThanOrEqual(0)
  }
})

inBothLanguages('who stands at an address that is not there is led to the guide', async (page, t, language) => {
  await page.goto('/nowhere')
  await page.getByRole('link', { name: t('app.guide') }).click()
  await expect(page).toHaveURL(new RegExp(`${first(language)}$`))
})
