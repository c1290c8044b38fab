import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accessible, ask, drop, expect, fill, inBothLanguages, questionOf, test, text } from './fixture'
import { elasticsearch } from './skip'

inBothLanguages('a knowledge base is made, filled, searched and deleted', async (page, t, language) => {
  const id = `shelf-${language}`
  await drop(id)
  await page.goto('/knowledge-bases')
  await page.getByRole('button', { name: t('bases.create'), exact: true }).click()
  const create = page.getByRole('dialog')
  await accessible(page)
  await create.getByLabel(t('bases.id')).fill('Not an id!')
  await create.getByRole('button', { name: t('bases.create') }).click()
  await expect(create.getByRole('alert')).toBeVisible()
  await create.getByLabel(t('bases.id')).fill(id)
  await create.getByLabel(t('bases.name')).fill('书架 Shelf')
  await create.getByRole('combobox', { name: t('bases.engine') }).selectOption('embedded')
  await create.getByLabel(t('bases.dimensions')).fill('0')
  await create.getByRole('button', { name: t('bases.create') }).click()
  await expect(page.getByText(t('bases.created', { name: '书架 Shelf' }))).toBeVisible()

  await page.getByRole('button', { name: t('bases.upload.to', { name: '书架 Shelf' }) }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('bases.upload.choose')).setInputFiles([
    { name: 'refunds.md', mimeType: 'text/markdown', buffer: Buffer.from('# Refunds\n\nPress the refund button.\n\n## 退款\n\n请在订单页面申请退款。') },
    { name: 'lines.ndjson', mimeType: '', buffer: Buffer.from('{"id": "a", "document_id": "d", "content": "a wombat"}\n{"id": 7}\n') },
    { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
    { name: 'photo.md', mimeType: 'image/png', buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]) },
    { name: 'photo.png', mimeType: 'image/png', buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]) },
    { name: 'page.html', mimeType: 'text/html', buffer: Buffer.from('<title>Page</title><script>alert(1)</script><p>Coffee is brewed here.</p>') },
  ])
  await expect(dialog.getByRole('status')).toContainText(t('bases.upload.queued', { count: 6 }))
  const tray = page.getByRole('region', { name: t('uploads.title') })
  await tray.getByRole('button', { expanded: false }).click()
  const item = (name: string) => tray.locator('.uploads > li', { hasText: name })
  await expect(item('refunds.md')).toContainText(t('bases.upload.done', { count: 2 }))
  await expect(item('lines.ndjson')).toContainText(t('bases.upload.failures', { count: 1 }))
  await expect(item('lines.ndjson')).toContainText(t('bases.upload.line', { line: 2 }))
  await expect(item('empty.txt')).toContainText(t('bases.upload.empty'))
  await expect(item('photo.md')).toContainText('NUL')
  await expect(item('photo.png')).toContainText(t('bases.upload.kind'))
  await expect(item('page.html')).toContainText(t('bases.upload.done', { count: 1 }))
  await accessible(page)
  await dialog.getByRole('button', { name: t('app.close') }).click()
  await tray.getByRole('button', { name: t('uploads.clear'), exact: true }).click()
  await tray.getByRole('button', { name: t('uploads.clear.failed') }).click()
  await expect(tray).toHaveCount(0)

  await page.getByRole('link', { name: t('bases.search', { name: '书架 Shelf' }) }).click()
  await questionOf(page).fill('退款')
  await questionOf(page).press('Enter')
  await expect(page.locator('.hit h3').first()).toHaveText('Refunds > 退款')

  await page.goto('/knowledge-bases')
  const card = page.locator('.base', { hasText: '书架 Shelf' })
  await expect(card.locator('.figures dd')).toHaveText(['3', '4', '0', /\d (B|kB)/])
  await card.getByText(t('bases.details'), { exact: true }).click()
  await expect(card.locator('.facts')).toContainText('memory_bytes')
  await page.getByRole('button', { name: t('bases.documents.of', { name: '书架 Shelf' }) }).click()
  const documents = page.getByRole('dialog').first()
  await expect(page).toHaveURL(/documents=shelf/)
  await expect(documents.locator('.documents > li')).toHaveCount(3)
  await documents.getByText('refunds.md').click()
  await expect(documents.locator('.chunks .text')).toHaveText(['Press the refund button.', '请在订单页面申请退款。'])
  await accessible(page)
  await documents.getByRole('button', { name: t('bases.delete.of', { name: 'refunds.md' }) }).click()
  await page.getByRole('dialog').last().getByRole('button', { name: t('bases.delete'), exact: true }).click()
  await expect(documents.locator('.documents > li')).toHaveCount(2)
  await documents.getByRole('button', { name: t('app.close') }).click()

  await page.getByRole('button', { name: t('bases.delete.of', { name: '书架 Shelf' }) }).click()
  const confirm = page.getByRole('dialog').getByRole('button', { name: t('bases.delete'), exact: true })
  await expect(confirm).toBeDisabled()
  await page.getByRole('dialog').getByRole('textbox').fill(id)
  await confirm.click()
  await expect(page.getByText(t('bases.deleted', { name: '书架 Shelf' }))).toBeVisible()
  await expect(page.getByRole('link', { name: '书架 Shelf' })).toHaveCount(0)
})

inBothLanguages('a knowledge base with a vector of the title is made, and its leg stands in a hit', async (page, t, language) => {
  const id = `titled-${language}`
  await drop(id)
  await page.goto('/knowledge-bases?create=1')
  const create = page.getByRole('dialog')
  await create.getByLabel(t('bases.id')).fill(id)
  await create.getByRole('button', { name: t('bases.engine'), exact: true }).press('Enter')
  const term = page.getByRole('dialog', { name: t('bases.engine'), exact: true })
  await expect(term).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(term).toBeHidden() // and nothing else
  await create.getByRole('combobox', { name: t('bases.engine') }).selectOption('embedded')
  await create.getByRole('combobox', { name: t('bases.kind') }).selectOption('qa')
  await expect(create.getByRole('checkbox', { name: t('bases.title_vector') })).toHaveCount(0)
  await create.getByRole('combobox', { name: t('bases.kind') }).selectOption('chunks')
  await create.getByRole('checkbox', { name: t('bases.title_vector') }).check()
  await accessible(page)
  await create.getByRole('button', { name: t('bases.create') }).click()
  await expect(page.getByText(t('bases.created', { name: id }))).toBeVisible()
  const card = page.locator('.base', { hasText: id })
  await card.getByText(t('bases.details'), { exact: true }).click()
  await expect(card.locator('.facts')).toContainText(`title_vector, ${t('bases.source.title')}`)
  try {
    const chunks = [
      { id: 'a', document_id: 'a', title: '退款 Refunds', content: 'Press the button on the page of your order.' },
      { id: 'b', document_id: 'b', title: '配送 Shipping', content: 'Parcels take three days.' },
      { id: 'c', document_id: 'c', content: 'A refund takes five days.' },
    ]
    await ask('POST', `/v1/knowledge-bases/${id}/documents?refresh=true`, chunks.map((c) => JSON.stringify(c)).join('\n'), 'application/x-ndjson')
    await expect(async () => { // a busy machine embeds the question too late, and only words answer
      await page.goto(`/?kb=${id}&preset=rrf&q=${encodeURIComponent(t('bases.title_vector'))}`)
      await expect(page.locator('.hit')).toHaveCount(3, { timeout: 5_000 })
    }).toPass({ timeout: 120_000 })
    const titled = page.locator('.hit', { hasText: '退款 Refunds' })
    await expect(titled.locator('.shares')).toContainText(t('hit.leg.title_vector'))
    await titled.locator('.why').click()
    const row = titled.getByRole('row', { name: t('hit.leg.title_vector') })
    await expect(row.getByRole('cell').first()).toHaveText(/^[12]$/)
    const untitled = page.locator('.hit', { hasText: 'A refund takes' })
    await untitled.locator('.why').click()
    await expect(untitled.getByRole('row', { name: t('hit.leg.title_vector') }).getByRole('cell').first()).toHaveText(t('hit.notfound'))
    await accessible(page)
  } finally {
    await drop(id)
  }
})

inBothLanguages('a failed deletion is told, also when its dialog was closed meanwhile', async (page, t, language) => {
  const id = `kept-${language}`
  await fill(id, { dimensions: 0 }, [{ id: 'a', document_id: 'notes.md', content: 'a wombat' }])
  let answer = () => {}
  const held = new Promise<void>((resolve) => (answer = resolve))
  const away = { type: 'about:blank', title: 'Service Unavailable', status: 503, code: 'unavailable', detail: 'the engine is away' }
  await page.route(`**/v1/knowledge-bases/${id}{,/documents/*}`, async (route) => {
    if (route.request().method() !== 'DELETE') return route.fallback()
    await held
    await route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(away) })
  })
  try {
    await page.goto('/knowledge-bases')
    await page.getByRole('button', { name: t('bases.delete.of', { name: id }) }).click()
    await page.getByRole('dialog').getByRole('textbox').fill(id)
    await page.getByRole('dialog').getByRole('button', { name: t('bases.delete'), exact: true }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: t('bases.documents.of', { name: id }) }).click()
    await page.getByRole('dialog').getByRole('button', { name: t('bases.delete.of', { name: 'notes.md' }) }).click()
    await page.getByRole('dialog').last().getByRole('button', { name: t('bases.delete'), exact: true }).click()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await page.getByRole('link', { name: t('nav.search'), exact: true }).click()
    answer()
    for (const name of [id, 'notes.md']) {
      const told = page.locator('.kept', { hasText: t('bases.delete.failed', { name }) })
      await expect(told).toContainText('the engine is away')
      await accessible(page)
      await told.getByRole('button', { name: t('app.close') }).click()
      await expect(told).toHaveCount(0)
    }
  } finally {
    await page.unrouteAll()
    await drop(id)
  }
})

inBothLanguages('the engines of the gateway are offered, and no other', async (page, t) => {
  const listed = JSON.parse(await ask('GET', '/v1/knowledge-bases')) as { engines: { name: string; default: boolean }[] }
  const standard = listed.engines.find((e) => e.default)?.name ?? ''
  await page.goto('/knowledge-bases?create=1')
  const offered = page.getByRole('dialog').getByRole('combobox', { name: t('bases.engine') }).getByRole('option')
  await expect(offered).toHaveText([t('bases.engine.default', { engine: standard }), ...listed.engines.map((e) => e.name)])
  expect(listed.engines.map((e) => e.name)).not.toContain('postgres') // which this gateway is started without
})

test('a file of 200 MB is sent and refused, and a larger one is not sent', async ({ page }) => {
  const folder = await mkdtemp(join(tmpdir(), 'hybridge-web-'))
  const path = join(folder, 'large.txt')
  await writeFile(path, '')
  await truncate(path, 200_000_000)
  await page.goto('/knowledge-bases')
  await page.getByRole('button', { name: 'Upload to Hybridge documentation' }).click()
  await page.getByLabel('Choose files').setInputFiles(path)
  await page.getByRole('region', { name: text('en', 'uploads.title') }).getByRole('button', { expanded: false }).click()
  const item = page.locator('.uploads > li')
  await expect(item).toContainText('larger than 16777216 bytes')
  await truncate(path, 200_000_001)
  await page.getByLabel('Choose files').setInputFiles(path)
  await expect(item).toHaveCount(1) // a mended file takes the place of the one that failed
  await expect(item).toContainText(text('en', 'bases.upload.large'))
  await expect(item).not.toContainText('16777216')
  await rm(folder, { recursive: true })
})

test('a knowledge base on two engines is made, filled, searched and compared; a schema is chosen', async ({ page }) => {
  elasticsearch()
  await drop('twice')
  await drop('pairs')
  const create = page.getByRole('dialog')
  const begin = async (id: string) => {
    await page.goto('/knowledge-bases?create=1')
    await create.getByLabel('Id').fill(id)
    await create.getByRole('combobox', { name: 'Engine' }).selectOption('elasticsearch')
  }
  await begin('twice')
  await create.getByRole('checkbox', { name: 'embedded' }).check()
  await create.getByLabel('Dimensions').fill('0')
  await create.getByText(text('en', 'bases.more')).click()
  await accessible(page)
  await create.getByRole('button', { name: 'Create' }).click()
  try {
    await expect(page.getByText('elasticsearch + embedded · chunks')).toBeVisible()
    await page.getByRole('button', { name: 'Upload to twice' }).click()
    await page.getByLabel('Choose files').setInputFiles({ name: 'refunds.txt', mimeType: 'text/plain', buffer: Buffer.from('Ask for a refund.') })
    await expect(page.getByRole('region', { name: 'Uploads' })).toContainText('1 of 1 uploaded')
    await page.goto('/?kb=twice&q=refund&engine=embedded')
    await expect(page.locator('.hit')).toHaveCount(1)
    await expect(page.locator('.head .tag').nth(1)).toHaveText('embedded')
    await page.goto('/compare?kb=twice&q=refund&col=text~~twice&col=text~~')
    await page.getByRole('combobox', { name: text('en', 'compare.engine', { n: 2 }) }).selectOption('twice · embedded')
    await expect(page).toHaveURL(/twice%7Eembedded|twice~embedded/)
    await expect(page.locator('.side').nth(1)).toContainText('embedded ·')
    await expect(page.locator('.compared')).toHaveCount(2)

    await begin('pairs')
    await create.getByRole('combobox', { name: 'Kind' }).selectOption('qa')
    await create.getByLabel('Dimensions').fill('8')
    await create.getByText(text('en', 'bases.more')).click()
    await create.getByRole('combobox', { name: 'Vector index' }).selectOption('bbq_hnsw')
    await create.getByRole('button', { name: 'Create' }).click()
    await expect(create.getByRole('alert')).toContainText('bbq_hnsw takes vectors of 64 dimensions and more')
    await create.getByLabel('Dimensions').fill('64')
    await create.getByRole('button', { name: 'Create' }).click()
    await expect(page.getByText('pairs has been created')).toBeVisible()
    expect(JSON.parse(await ask('GET', '/v1/mappings/pairs/live'))).toMatchObject({ mapping: { mappings: { properties: {
      question_vector: { dims: 64, index_options: { type: 'bbq_hnsw' } }, answer_vector: { index_options: { type: 'bbq_hnsw' } },
    } } } })
  } finally {
    await drop('twice')
    await drop('pairs')
  }
})

inBothLanguages('what is wrong with the gateway is said', async (page) => {
  const detail = 'the disk of engine embedded is full'
  await page.route('**/readyz', (route) =>
    route.fulfill({ json: { status: 'ready', back_ends: {}, warnings: [{ code: 'disk_full', detail }] } }))
  await page.goto('/knowledge-bases')
  await expect(page.getByRole('status').filter({ hasText: detail })).toBeVisible()
  await accessible(page)
})

inBothLanguages('a knowledge base of before the model says so, one that is meant to have words alone does not', async (page, t, language) => {
  const id = `early-${language}`
  await fill(id, { engine: 'embedded', dimensions: 0 }, [{ id: 'a', document_id: 'd', content: 'Press the button.' }])
  try {
    await page.goto('/knowledge-bases')
    const card = page.locator('.base', { hasText: id })
    await expect(card.getByText(t('bases.state.words'), { exact: true })).toBeVisible()
    await page.route(`**/v1/knowledge-bases/${id}`, async (r) => {
      const answer = (await (await r.fetch()).json()) as object
      await r.fulfill({ json: { ...answer, keyword_only: false } })
    })
    await page.reload()
    await expect(card.getByText(t('bases.state.before'))).toBeVisible()
  } finally {
    await drop(id)
  }
})
