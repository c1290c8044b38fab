import { accessible, drop, expect, inBothLanguages, test } from './fixture'

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
  ])
  const items = dialog.locator('.uploads > li')
  await expect(items.nth(0)).toContainText(t('bases.upload.done', { count: 2 }))
  await expect(items.nth(1)).toContainText(t('bases.upload.failures', { count: 1 }))
  await expect(items.nth(1)).toContainText(t('bases.upload.line', { line: 2 }))
  await expect(items.nth(2)).toContainText(t('bases.upload.empty'))
  await expect(items.nth(3)).toContainText(t('bases.upload.binary'))
  await accessible(page)
  await dialog.getByRole('button', { name: t('app.close') }).click()

  await page.getByRole('link', { name: '书架 Shelf' }).click()
  await page.getByRole('searchbox').fill('退款')
  await page.getByRole('searchbox').press('Enter')
  await expect(page.locator('.hit h3').first()).toHaveText('Refunds > 退款')

  await page.goto('/knowledge-bases')
  await page.getByRole('button', { name: t('bases.delete.of', { name: '书架 Shelf' }) }).click()
  const confirm = page.getByRole('dialog').getByRole('button', { name: t('bases.delete'), exact: true })
  await expect(confirm).toBeDisabled()
  await page.getByRole('dialog').getByRole('textbox').fill(id)
  await confirm.click()
  await expect(page.getByText(t('bases.deleted', { name: '书架 Shelf' }))).toBeVisible()
  await expect(page.getByRole('link', { name: '书架 Shelf' })).toHaveCount(0)
})

test('a file of 200 MB and more is refused before it is read', async ({ page }) => {
  await page.goto('/knowledge-bases')
  await page.getByRole('button', { name: 'Upload to Hybridge documentation' }).click()
  await page.getByLabel('Choose files').evaluate((input: HTMLInputElement) => {
    const file = new File(['x'], 'large.txt')
    Object.defineProperty(file, 'size', { value: 200_000_001 })
    const files = Object.assign([file], { item: () => file })
    Object.defineProperty(input, 'files', { value: files })
    input.dispatchEvent(new Event('change', { bubbles: true }))
  })
  await expect(page.getByText('The file is over 200 MB')).toBeVisible()
})
