import { accessible, expect, inBothLanguages } from './fixture'

const chatURL = () => process.env.HYBRIDGE_TEST_CHAT_URL ?? ''

inBothLanguages('a model answers above the hits, with citations that lead to them', async (page, t) => {
  await page.goto('/?kb=docs&relevant=0&q=how+are+scores+fused')
  await expect(page.locator('.hit').first()).toBeVisible()
  await page.getByRole('switch', { name: t('answer.switch') }).check()
  await expect(page).toHaveURL(/answer=1/)
  const box = page.getByRole('region', { name: t('answer.title') })
  await expect(box).toHaveAttribute('aria-busy', 'false')
  await expect(box).toContainText('Ranks are fused by reciprocal rank.1 Scores are brought to one scale.2 Nobody knows why.')
  await expect(box.locator('.uncited')).toHaveText('Nobody knows why.')
  await accessible(page)
  await box.locator('.cite').last().click()
  await expect(page.locator('.hit').nth(1)).toBeFocused()
  await expect(page.locator('.hit').nth(1)).toBeInViewport()
  await page.goto('/?kb=docs&relevant=0&answer=1&page=2&q=how+are+scores+fused') // its sources are on the first page
  const cite = box.getByRole('button', { name: t('answer.source', { n: 1 }) }).first()
  await cite.click()
  await expect(box.getByRole('region', { name: t('answer.source', { n: 1 }) })).not.toBeEmpty()
  await accessible(page)
  await page.getByRole('switch', { name: t('answer.switch') }).uncheck()
  await expect(box).toHaveCount(0)
})

inBothLanguages('an answer can be stopped, fails and is unknown with words', async (page, t, language) => {
  const box = page.getByRole('region', { name: t('answer.title') })
  const left = async () => Number(await (await fetch(chatURL())).text())
  const before = await left()
  await page.setViewportSize({ width: 375, height: 812 })
  await page.goto('/?kb=docs&relevant=0&answer=1&q=an+engine+that+never+ends')
  await expect(box.locator('.cite').first()).toBeVisible()
  await box.getByRole('button', { name: t('answer.stop') }).click()
  await expect(box).toContainText(t('answer.stopped'))
  await expect.poll(left).toBeGreaterThan(before) // the request to the model has ended too
  await accessible(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375)
  await page.goto('/?kb=docs&relevant=0&answer=1&q=an+engine+that+fails')
  await expect(box.getByRole('alert')).toBeVisible()
  await page.goto('/?kb=docs&relevant=1&answer=1&q=' + encodeURIComponent('zzz qqq xxyyzz'))
  await expect(box.locator('.unknown')).toContainText(language === 'zh' ? '不知道' : "I don't know")
  await accessible(page)
})
