import type { Readiness } from '../src/api/schema'
import { accessible, expect, inBothLanguages } from './fixture'

inBothLanguages('an empty gateway leads to its first answer', async (page, t) => {
  let empty = true
  await page.route('**/v1/knowledge-bases', (r) => (empty ? r.fulfill({ json: { knowledge_bases: [] } }) : r.continue()))
  await page.goto('/')
  const steps = page.getByRole('region', { name: t('first.title') })
  const done = steps.getByRole('listitem').filter({ has: page.getByText(t('first.done'), { exact: true }) })
  await expect(done).toHaveCount(1) // there is a model
  await expect(done).toContainText(t('first.model.there'))
  await expect(steps.getByRole('link', { name: t('search.nobase.go') })).toHaveAttribute('href', '/knowledge-bases?create=1')
  await accessible(page)
  await page.route('**/v1/demo', (r) => {
    empty = false
    return r.continue()
  })
  await steps.getByRole('button', { name: t('first.data.load') }).click()
  await expect(done).toHaveCount(2)
  await expect(steps).toContainText(t('first.question.about'))
  await accessible(page)
  await steps.getByRole('button', { name: 'how are scores fused' }).click()
  await expect(page.locator('.hit').first()).toBeVisible()
  await expect(steps).toHaveCount(0)
  await page.goto('/') // with something to search there is no first run
  await expect(page.getByRole('heading', { name: t('search.start') })).toBeVisible()
  await expect(steps).toHaveCount(0)
})

inBothLanguages('the first steps say which setting is missing, and can be dismissed', async (page, t) => {
  await page.route('**/v1/knowledge-bases', (r) => r.fulfill({ json: { knowledge_bases: [] } }))
  await page.route('**/readyz', async (r) => {
    const real = await r.fetch()
    const { back_ends: { embedding: _, ...others }, ...ready } = (await real.json()) as Readiness
    await r.fulfill({ response: real, json: { ...ready, back_ends: others } })
  })
  await page.setViewportSize({ width: 375, height: 812 })
  await page.goto('/')
  const steps = page.getByRole('region', { name: t('first.title') })
  await expect(steps).toContainText('--embedding-url')
  await accessible(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375)
  await steps.getByRole('button', { name: t('first.dismiss') }).click()
  await expect(page.getByRole('heading', { name: t('base.none') })).toBeVisible()
  await page.reload()
  await expect(page.getByRole('main').getByRole('link', { name: t('search.nobase.go') })).toBeVisible()
  await expect(steps).toHaveCount(0)
})
