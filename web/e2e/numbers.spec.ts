import { accessible, ask, expect, inBothLanguages } from './fixture'

const asked = { en: 'how are scores fused', zh: '如何调整关键词和向量的权重' }

inBothLanguages('an answer shows how its scores fall, what was cut, and what its words count', async (page, t, language) => {
  const query = asked[language]
  const { hits } = JSON.parse(await ask('POST', '/v1/search', JSON.stringify({ query, knowledge_bases: ['docs'], top_k: 50, limit: 100, threshold: 'auto' }))) as { hits: unknown[] }
  for (const width of [1440, 375]) {
    await page.setViewportSize({ width, height: 900 })
    await page.goto(`/?kb=docs&relevant=1&q=${encodeURIComponent(query)}`)
    await page.getByRole('button', { name: t('numbers.ask') }).click()
    const dialog = page.getByRole('dialog', { name: t('numbers.title') })
    await expect(dialog.getByText(t('numbers.about', { kept: hits.length, count: 100 }))).toBeVisible()
    await expect(dialog.locator('figure')).toHaveCount(3)
    const relevance = dialog.locator('figure', { hasText: t('numbers.relevance') })
    await expect(relevance.locator('.place:not(.cut)')).toHaveCount(hits.length)
    await expect(relevance.getByText(t('numbers.least', { value: 0.03 }))).toBeVisible()
    await dialog.getByText(t('chart.table')).first().click()
    await expect(dialog.locator('tbody').first().getByRole('cell', { name: t('numbers.in'), exact: true })).toHaveCount(hits.length)
    await expect(dialog.locator('.word-of')).not.toHaveCount(0)
    await accessible(page)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
  }
  await page.keyboard.press('Escape')
  await page.goto(`/?kb=docs&relevant=1&q=${encodeURIComponent('how do I bake an apple pie')}`)
  await page.getByRole('button', { name: t('numbers.ask') }).click()
  await expect(page.getByRole('dialog').locator('.place:not(.cut)')).not.toHaveCount(0) // words
  await expect(page.getByRole('dialog').locator('figure').first().locator('.place:not(.cut)')).toHaveCount(0)
})
