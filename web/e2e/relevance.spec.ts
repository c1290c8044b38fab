import { accessible, drop, expect, fill, inBothLanguages, test, text } from './fixture'

const unanswerable = { en: 'best pizza in naples', zh: '那不勒斯哪家披萨最好吃' }

inBothLanguages('a hit says how relevant it is, and its explanation how that came to be', async (page, t) => {
  await page.goto('/?kb=docs&q=如何调整关键词和向量的权重')
  const first = page.locator('.hit').first()
  await expect(first.locator('.relevance')).toHaveText(new RegExp(t('hit.relevant', { percent: '[>]?\\d+ %' })))
  await expect(first.locator('.relevance')).toHaveAttribute('title', /100/)
  await expect(page.getByText(t('search.unanswered'), { exact: true })).toHaveCount(0)
  await first.locator('.why').click()
  await expect(first.locator('.explanation .facts').first()).toContainText(t('hit.relevance'))
  await expect(first.locator('.explanation .facts').first()).toContainText(t('hit.language'))
  await page.locator('.read summary').click()
  await expect(page.locator('.read')).toContainText(t('search.read.language', { language: t('hit.language') === 'Language' ? 'Chinese' : '中文' }))
  await accessible(page)
})

inBothLanguages('what a second stage scored says so', async (page, t) => {
  await page.goto('/?kb=docs&q=如何调整关键词和向量的权重&preset=ragflow')
  const first = page.locator('.hit').first()
  await first.locator('.why').click()
  const second = first.locator('.second-stage')
  await expect(first.locator('.explanation')).toContainText(t('hit.second'))
  await expect(second).toContainText(new RegExp(`${t('hit.second.words')}\\s*[01][.]\\d+`))
  await expect(second).toContainText(new RegExp(`${t('hit.second.rank')}\\s*[1-9]`))
  await accessible(page)
  await page.goto('/?kb=docs&q=如何调整关键词和向量的权重&preset=rrf')
  await first.locator('.why').click()
  await expect(first.locator('.explanation')).toBeVisible()
  await expect(second).toHaveCount(0)
})

inBothLanguages('a question that nothing answers is told, and what is not relevant can be hidden', async (page, t, language) => {
  await page.goto(`/?kb=docs&q=${encodeURIComponent(unanswerable[language])}`)
  const hits = page.locator('.hit')
  await expect(hits).toHaveCount(10) // the nearest
  await expect(page.locator('.notice')).toContainText(t('search.unanswered'))
  await accessible(page)
  const only = page.getByRole('switch', { name: t('search.relevant') })
  await expect(only).not.toBeChecked()
  await only.focus()
  await page.keyboard.press('Space')
  await expect(page).toHaveURL(/relevant=1/)
  await expect(page.getByRole('heading', { name: t('search.irrelevant') })).toBeVisible()
  await expect(hits).toHaveCount(0)
  await expect(page.locator('.notice')).toHaveCount(0)
  await expect(only).toBeChecked()
  await accessible(page)
  await page.reload()
  await page.getByRole('button', { name: t('search.irrelevant.show') }).press('Enter')
  await expect(page).not.toHaveURL(/relevant=/)
  await expect(hits).toHaveCount(10)
  await page.goBack()
  await expect(page.getByRole('heading', { name: t('search.irrelevant') })).toBeVisible()
})

inBothLanguages('of an answer, only relevant hits stay', async (page, t) => {
  await page.goto('/?kb=docs&q=如何调整关键词和向量的权重&relevant=1')
  const hits = page.locator('.hit')
  await expect(hits.first()).toBeVisible()
  await expect(page.locator('.only')).toContainText(/\d/) // how many are hidden
  const shown = await hits.count()
  expect(shown).toBeLessThan(10)
  const percentages = await page.locator('.relevance').allTextContents()
  for (const p of percentages) expect(Number(/\d+/.exec(p)?.[0])).toBeGreaterThanOrEqual(3)
  await page.getByRole('switch', { name: t('search.relevant') }).click()
  await expect(hits).toHaveCount(10)
  await expect(page).not.toHaveURL(/relevant=/)
})

inBothLanguages('the language of the question can be said, and where nothing is known nothing is claimed', async (page, t) => {
  await fill('german', { dimensions: 0 }, ['Die Erstattung dauert eine Woche, nachdem die Ware bei uns angekommen ist.',
    'Der Versand innerhalb des Landes ist kostenlos, wenn die Bestellung hoch genug ist.'].map((content, i) => ({ id: `c${i}`, document_id: `d${i}`, content })))
  await page.goto('/?kb=german&q=Erstattung')
  const hits = page.locator('.hit')
  await expect(hits).toHaveCount(1)
  await page.getByRole('combobox', { name: t('search.language') }).selectOption('zh')
  await expect(page).toHaveURL(/language=zh/)
  await expect(hits.locator('.relevance')).toHaveCount(0) // words of another language say nothing
  await hits.locator('.why').click()
  await expect(hits.locator('.facts').first()).toContainText(t('hit.relevance.unknown'))
  await page.locator('.read summary').click()
  await expect(page.locator('.read')).toContainText(t('search.read.language', { language: t('hit.language') === 'Language' ? 'Chinese' : '中文' }))
  await page.getByRole('combobox', { name: t('search.language') }).selectOption('')
  await expect(page).not.toHaveURL(/language=/)
  await drop('german')
})

test('a preset of its own thresholds can be overruled', async ({ page }) => {
  await page.route('**/v1/search', async (route) => {
    const asked = route.request().postDataJSON() as { threshold?: unknown }
    if (asked.threshold) return route.continue()
    return route.continue({ postData: JSON.stringify({ ...asked, threshold: 'auto' }) }) // as a preset would
  })
  const only = page.getByRole('switch', { name: text('en', 'search.relevant') }) // beside that for answers
  await page.goto('/?kb=docs&q=best+pizza+in+naples')
  await expect(only).toBeChecked()
  await page.locator('.blank').getByRole('button').click()
  await expect(page).toHaveURL(/relevant=0/)
  await expect(page.locator('.hit')).toHaveCount(10)
  await expect(only).not.toBeChecked()
})
