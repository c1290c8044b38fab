import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { drop, expect, fill, inBothLanguages, test, text } from './fixture'
import { elasticsearch } from './skip'

inBothLanguages('the playground shows what a search would send', async (page, t) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto('/playground')
  await page.getByRole('searchbox').fill('如何申请退款')
  await page.getByRole('button', { name: t('play.ask') }).click()
  await expect(page).toHaveURL(/q=/)
  await expect(page.getByRole('tabpanel')).toContainText('退款')
  await page.getByRole('tab', { name: t('play.tab.request') }).click()
  await page.getByRole('button', { name: t('play.curl') }).click()
  await expect(page.getByRole('button', { name: t('app.copied') })).toBeVisible()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toContain('/v1/search')
  expect(copied).toContain('如何申请退款')
  await page.getByRole('tab', { name: t('play.tab.request') }).press('ArrowLeft')
  await expect(page.getByRole('tab', { name: t('play.tab.plan') })).toHaveAttribute('aria-selected', 'true')
})

test('the Elasticsearch request that the playground copies runs as it is', async ({ page }) => {
  const server = elasticsearch()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await fill('sent', { engine: 'elasticsearch', dimensions: 0 }, [{ id: 'a', document_id: 'd', content: "it's a refund" }])
  try {
    await page.goto(`/playground?kb=sent&preset=text&q=${encodeURIComponent('refund')}`)
    await page.getByRole('tab', { name: text('en', 'play.tab.statements') }).click()
    await page.getByRole('button', { name: text('en', 'play.curl') }).first().click()
    await expect(page.getByRole('button', { name: text('en', 'app.copied') })).toBeVisible()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toContain('http://localhost:9200/')
    const { stdout } = await promisify(execFile)('sh', ['-c', copied.replaceAll('http://localhost:9200', server)])
    expect(stdout).toContain('"fields":{"id":["a"]')
  } finally {
    await drop('sent')
  }
})

test('SQL is shown and copied as it is', async ({ page }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const sql = "SELECT id FROM chunks WHERE title <> '<b>' ORDER BY id;"
  await page.route('**/v1/analyze', async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ json: { ...(await answer.json() as object), statements: [{ knowledge_base: 'docs', sql }] } })
  })
  await page.goto('/playground?kb=docs&q=refund')
  await page.getByRole('tab', { name: text('en', 'play.tab.statements') }).click()
  await expect(page.locator('.sent .code')).toHaveText(sql)
  await page.locator('.sent').getByRole('button', { name: text('en', 'play.copy') }).click()
  await expect(page.getByRole('button', { name: text('en', 'app.copied') })).toBeVisible()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(sql)
})

inBothLanguages('synonyms are tried, saved and taken back', async (page, t, language) => {
  const rule = `gateway, portal${language}`
  await page.goto('/synonyms')
  const editor = page.getByRole('textbox', { name: t('syn.rules') })
  await editor.fill(rule)
  await page.getByLabel(t('syn.try')).fill('gateway')
  await page.getByRole('button', { name: t('syn.try.go'), exact: true }).click()
  await expect(page.locator('.trial')).toContainText([`portal${language}`])
  await page.getByRole('button', { name: t('syn.save') }).click()
  await expect(page.getByRole('status').filter({ hasText: /\d/ }).first()).toBeVisible()
  await expect(page.getByText(t('syn.inuse'), { exact: true })).toBeVisible()
  await editor.fill('broken => => rule')
  await page.getByRole('button', { name: t('syn.save') }).click()
  await expect(page.getByRole('alert')).toBeVisible()
  await editor.fill('')
  await page.getByRole('button', { name: t('syn.save') }).click()
  await expect(page.locator('.versions li').first()).toContainText(t('syn.rulecount', { count: 0 }))
})
