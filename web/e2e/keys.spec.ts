import type { Page } from '@playwright/test'
import { accessible, expect, inBothLanguages, questionOf, test } from './fixture'

const focused = (page: Page) => page.evaluate(() => document.activeElement?.closest('.hit')?.querySelector('.place')?.textContent ?? document.activeElement?.getAttribute('name') ?? '')

inBothLanguages('hits are reached, opened and left by keys, which type nothing in fields', async (page, t) => {
  await page.goto('/?kb=docs&q=how+are+scores+fused')
  await expect(page.locator('.hit')).toHaveCount(10)
  await page.getByRole('link', { name: t('app.skip') }).focus() // the first there is
  await page.keyboard.press('Enter')
  const skip = page.getByRole('link', { name: t('search.skip') })
  let tabs = 1 // to the first link
  for (; tabs < 6 && !(await skip.evaluate((e) => e === document.activeElement)); tabs++) await page.keyboard.press('Tab')
  await expect(skip).toBeFocused()
  await page.keyboard.press('Enter')
  expect(await focused(page)).toBe('1')
  for (const key of ['j', 'j', 'k']) await page.keyboard.press(key)
  expect(await focused(page)).toBe('2')
  await page.keyboard.press('Enter')
  await expect(page.locator('.passage.chosen')).toBeInViewport()
  const opened = page.url()
  await expect(async () => { // as soon as the matches are known
    await page.keyboard.press('j') // to the next match
    expect(page.url()).not.toBe(opened)
  }).toPass()
  await page.keyboard.press('/')
  expect(await focused(page)).toBe('q')
  await page.keyboard.press('j')
  await expect(page.getByRole('searchbox')).toHaveValue('j')
  await page.locator('main h1').click()
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(/\/\?kb=docs&q=how\+are\+scores\+fused$/)
  await expect(page.locator('.hit').nth(1).locator('h3 a')).toBeFocused() // where one was
  await page.keyboard.press('Escape')
  await expect(questionOf(page)).toBeFocused()
  await page.locator('.legend').click()
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: t('keys.title') })
  await expect(help).toBeVisible()
  await accessible(page)
  await help.getByRole('checkbox').uncheck()
  await page.keyboard.press('Escape')
  await expect(help).toHaveCount(0)
  await page.keyboard.press('j')
  expect(await focused(page)).not.toBe('1')
  await page.keyboard.press('?')
  await expect(help).toHaveCount(0)
})

inBothLanguages('the palette goes to pages, documents and searches, and does what has no page', async (page, t) => {
  await page.goto('/')
  const field = page.getByRole('dialog').getByRole('combobox')
  const options = page.getByRole('dialog').getByRole('option')
  const open = async (typed: string) => {
    await expect(page.getByRole('main')).not.toBeEmpty()
    await page.keyboard.press('Control+k')
    await field.fill(typed)
  }
  await open(t('nav.synonyms'))
  await expect(options.first()).toContainText(t('nav.synonyms'))
  await accessible(page)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/synonyms$/)
  await open('Relevance.MD') // names are found however they are written
  await options.filter({ hasText: 'zh/relevance.md' }).click()
  await expect(page).toHaveURL(/\/documents\/docs\/zh%2Frelevance\.md$/)
  await expect(page.locator('.passage').first()).toBeVisible()
  await open(t('app.theme.dark'))
  await expect(options.first()).toContainText(t('app.theme.dark'))
  await page.keyboard.press('Enter')
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  await open('scores fused')
  await page.getByRole('dialog').getByRole('option', { name: t('keys.search', { q: 'scores fused' }) }).click()
  await expect(page).toHaveURL(/\/\?q=scores%20fused$/)
  await expect(page.locator('.hit').first()).toBeVisible()
})

inBothLanguages('a chunk that one misses is picked, and the step that dropped it is told', async (page, t, language) => {
  await page.goto('/?kb=docs&size=10&q=how+are+scores+fused')
  await page.getByRole('button', { name: t('whynot.ask') }).click()
  const dialog = page.getByRole('dialog', { name: t('whynot.title') })
  await dialog.getByRole('combobox', { name: t('whynot.document') }).fill('relevance')
  await dialog.getByRole('option', { name: 'en/relevance.md' }).click()
  await dialog.getByRole('combobox', { name: t('whynot.chunk') }).fill('null')
  await dialog.getByRole('option').filter({ hasText: 'What null means' }).click()
  await expect(dialog.locator('.told')).toContainText(t('why.out'))
  await expect(dialog.locator('.told li')).toHaveCount(2)
  await expect(dialog.locator('.told')).toContainText(language === 'zh' ? /片段/ : /[Cc]hunk/)
  await accessible(page)
  await dialog.getByRole('link', { name: t('hit.open') }).click()
  await expect(page).toHaveURL(/\/documents\/docs\/en%2Frelevance\.md\?kb=docs&size=10&q=.*&chunk=/)
  await expect(page.locator('.passage.chosen .told')).toContainText(t('why.out'))
})

test('hits are seen going to their new places, and stand still for those who want no motion', async ({ page }) => {
  await page.addInitScript(() => {
    const seen = Object.assign(window, { moved: 0 })
    const animate = Element.prototype.animate
    Element.prototype.animate = function (...args) {
      seen.moved++
      return animate.apply(this, args)
    }
  })
  const moved = () => page.evaluate(() => (window as unknown as { moved: number }).moved)
  const weigh = async (key: string, url: RegExp) => {
    await page.getByRole('slider').press(key)
    await expect(page).toHaveURL(url)
    await expect(page.locator('.answer.stale')).toHaveCount(0)
    await expect(page.locator('.gone .hit')).toHaveCount(0)
  }
  for (const reducedMotion of ['no-preference', 'reduce'] as const) {
    await page.emulateMedia({ reducedMotion })
    await page.goto('/?kb=docs&q=knowledge+base+engine')
    await expect(page.locator('.hit')).toHaveCount(10)
    expect(await moved()).toBe(0)
    await weigh('End', /w=1/)
    await weigh('Home', /w=0/)
    if (reducedMotion === 'reduce') expect(await moved()).toBe(0)
    else await expect.poll(moved).toBeGreaterThan(0)
  }
})
