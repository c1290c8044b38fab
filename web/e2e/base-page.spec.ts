import { accessible, ask, base, drop, expect, fill, inBothLanguages, test, text } from './fixture'
import { elasticsearch } from './skip'

/** 60 documents, which are more than one page of the table; the last three have no vectors yet. */
const chunks = Array.from({ length: 60 }, (_, d) => Array.from({ length: d === 7 ? 5 : 1 + (d % 2) }, (_, i) => ({
  id: `c${d}-${i}`, document_id: `d/${d}`, document_name: `${d % 3 === 0 ? '手册' : 'manual'} ${String(d).padStart(2, '0')}.md`, ordinal: i,
  ...(d < 50 ? { written_at: `2025-${String(1 + (d % 12)).padStart(2, '0')}-15T12:00:00Z` } : {}),
  content: `Step ${i} of ${d}. 第 ${i} 步。`, ...(d < 57 ? { vector: Array.from({ length: 384 }, (_, n) => (n === d ? 1 : 0.01)) } : {}),
}))).flat()

/** Texts of its own, which the model has not embedded yet: that takes long enough to be cancelled. */
async function made(id: string, spec: object) {
  await fetch(`${base()}/v1/knowledge-bases/${id}`, { method: 'DELETE' })
  await ask('POST', '/v1/knowledge-bases', JSON.stringify({ id, name: 'Manuals', ...spec }))
  await ask('POST', `/v1/knowledge-bases/${id}/documents?refresh=true&as_is=true`, chunks.map((c) => JSON.stringify({ ...c, content: `${c.content} ${id}` })).join('\n'), 'application/x-ndjson')
}

test.afterAll(async () => {
  for (const id of ['base-en', 'base-zh', 'base-elastic']) await drop(id)
})

inBothLanguages('a knowledge base is a page: its documents found, sorted and deleted, its vectors made, checked and saved', async (page, t, language) => {
  const id = `base-${language}`
  await made(id, {})
  await page.goto('/knowledge-bases')
  await page.locator('.base').filter({ hasText: id }).getByRole('heading').getByRole('link').click()
  await expect(page).toHaveURL(new RegExp(`/knowledge-bases/${id}$`))
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Manuals')
  await expect(page.locator('.kb-figures')).toContainText('93')
  const rows = page.locator('.kb-documents tbody tr')
  const told = page.getByRole('search').getByRole('status')
  await expect(told).toHaveText(t('kb.documents.count', { shown: 50, count: 60 }))
  await page.getByRole('button', { name: t('bases.documents.more') }).click()
  await expect(rows).toHaveCount(60)
  await page.getByRole('button', { name: t('bases.chunks') }).click()
  await expect(rows.first()).toContainText('manual 07.md')
  await expect(page).toHaveURL(/sort=chunks&order=desc/)
  await page.getByRole('button', { name: t('kb.documents.written') }).click()
  await expect(page).toHaveURL(/sort=written_at&order=desc/)
  await expect(rows.first()).toContainText(/5\d\.md/) // written just now, the others in 2025
  await page.getByRole('button', { name: t('kb.documents.written') }).click()
  await expect(rows.first()).toContainText(/(00|12|24|36|48)\.md/)
  await expect(rows.first().locator('time')).toHaveText(language === 'zh' ? '2025年1月15日' : 'Jan 15, 2025')
  await expect(rows.first().locator('time')).toHaveAttribute('title', /2025/)
  await page.getByRole('button', { name: t('bases.state'), exact: true }).click()
  await expect(rows.first()).toContainText(/5[789]\.md/)
  await expect(rows.first()).toContainText(/1|2/)
  await page.getByRole('searchbox').fill('手册 0')
  await page.getByRole('searchbox').press('Enter')
  await expect(rows).toHaveCount(4)
  await accessible(page)
  await page.getByRole('checkbox', { name: t('kb.documents.all') }).check()
  await rows.first().getByRole('checkbox').uncheck()
  await page.getByRole('button', { name: t('kb.documents.delete', { count: 3 }) }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText(t('kb.documents.delete.about', { count: 3, name: 'Manuals' }))
  await dialog.getByRole('button', { name: t('kb.documents.delete', { count: 3 }) }).click()
  await expect(page.getByText(t('kb.documents.deleted', { count: 3 }))).toBeVisible()
  await expect(rows).toHaveCount(1)

  await page.getByRole('link', { name: t('kb.view.jobs') }).click()
  await page.getByRole('button', { name: t('kb.embed.missing') }).click()
  const job = page.locator('.kb-jobs > li').first()
  await expect(job).toContainText(t('kb.job.embed'))
  await expect(job).toContainText(t('kb.job.state.succeeded'), { timeout: 60_000 })
  await expect(page.getByText(t('kb.embed.whole'))).toBeVisible()
  await accessible(page)

  await page.getByRole('link', { name: t('kb.view.health') }).click()
  await page.getByRole('button', { name: t('kb.check.now'), exact: true }).click()
  await expect(page.getByText(t('kb.check.sound'), { exact: true })).toBeVisible()
  await accessible(page)

  await page.getByRole('link', { name: t('kb.view.export') }).click()
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: t('kb.export.text') }).click()])
  expect(file.suggestedFilename()).toBe(`${id}.jsonl`)
  const stream = await file.createReadStream()
  let lines = 0
  for await (const part of stream) lines += String(part).split('\n').length - 1
  expect(lines).toBeGreaterThan(80)
  await accessible(page)
})

test('a knowledge base of Elasticsearch, with its sizes; one that is not there; a job that is cancelled', async ({ page }) => {
  const t = (key: Parameters<typeof text>[1], values = {}) => text('en', key, values)
  await page.goto('/knowledge-bases/nowhere')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(t('kb.unknown'))
  elasticsearch()
  await made('base-elastic', { engine: 'elasticsearch' })
  await page.goto('/knowledge-bases/base-elastic?sort=without_vectors&order=desc')
  await expect(page.locator('.kb-documents tbody tr').first()).toContainText(/5[789]\.md/)
  await page.getByRole('button', { name: t('bases.size') }).click()
  await expect(page.locator('.kb-documents tbody tr').first()).toContainText(/\d k?B/)
  await page.goto('/knowledge-bases/base-elastic?view=jobs')
  await page.getByRole('button', { name: t('kb.embed.all') }).click()
  await page.getByRole('dialog').getByRole('button', { name: t('kb.embed.all') }).click()
  const job = page.locator('.kb-jobs > li').first()
  await job.getByRole('button', { name: t('app.cancel') }).click()
  await expect(job).toContainText(t('kb.job.state.cancelled'))
  await page.goto('/knowledge-bases/base-elastic?view=health')
  await page.getByRole('button', { name: t('kb.check.now'), exact: true }).click()
  await expect(page.locator('.notice.error, [role="status"] .tag')).toBeVisible()
})

inBothLanguages('settings in force say where they came from, and the audit log who did what', async (page, t, language) => {
  if (language === 'zh') await page.setViewportSize({ width: 375, height: 812 })
  const fits = async () => {
    await accessible(page)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(page.viewportSize()!.width)
  }
  await page.goto('/keys')
  await page.getByRole('link', { name: t('nav.settings') }).click()
  const rows = page.locator('tbody tr')
  await expect(rows.nth(100)).toBeAttached()
  await page.getByRole('searchbox').fill('usual reranker key log')
  await expect(page.getByText(t('set.none'))).toBeVisible()
  const [words, does] = language === 'zh' ? ['模型名称 embedding.model', '服务所用的模型名称。'] : ["model's name embedding.model", "The model's name, as the service knows it."]
  await page.getByRole('searchbox').fill(words!)
  await expect(rows).toHaveCount(1)
  await expect(rows).toContainText('multilingual-e5-small')
  await expect(rows).toContainText(does!)
  await expect(rows).toContainText(t('set.accepts', { what: language === 'zh' ? '文本' : 'a text' }))
  await expect(rows).toContainText(t('set.from.flag'))
  await page.getByRole('searchbox').fill('default_engine')
  await expect(rows.first()).toContainText(t('set.from.environment'))
  await page.getByRole('checkbox', { name: t('set.only') }).check()
  await page.getByRole('searchbox').fill('')
  await expect(page.getByText('log.level', { exact: true })).toHaveCount(0)
  await fits()
  await fill('audited', { dimensions: 0 }, [{ id: 'a', document_id: 'a', content: 'a' }])
  await drop('audited')
  await page.getByRole('link', { name: t('nav.audit') }).click()
  await expect(rows.first()).toBeVisible()
  const reading = rows.filter({ hasText: 'GET /v1/audit' })
  await expect(reading).toHaveCount(0)
  await page.getByRole('checkbox', { name: t('aud.reads') }).check()
  await expect(reading.first()).toBeVisible()
  await expect(page).toHaveURL(/reads=1/)
  await page.getByRole('searchbox', { name: t('aud.action') }).fill('DELETE /v1/knowledge-bases/{kb}')
  await page.getByRole('button', { name: t('aud.filter') }).click()
  await expect(page).toHaveURL(/action=DELETE/)
  await expect(rows.first()).toContainText('audited')
  await fits()
  await page.getByRole('combobox', { name: t('aud.outcome') }).selectOption('refused')
  await expect(page.getByText(t('aud.none'))).toBeVisible()
})
