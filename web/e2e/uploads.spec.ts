import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page, Request } from '@playwright/test'
import { accessible, ask, atRest, base, drop, expect, fill, inBothLanguages, test, text } from './fixture'
import { dialogOf, give, markdown, rowOf, trayOf, type Text } from './tray'

const english: Text = (key, values) => text('en', key, values)

/** Holds requests to the gateway until they are let go. */
async function hold(page: Page, url: string) {
  let letGo = () => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  await page.route(url, async (route) => {
    await held
    await route.continue().catch(() => undefined) // one that was cancelled meanwhile
  })
  return () => letGo()
}

/** The files whose rows change until one of them does. */
const drawnAnew = (page: Page) => page.evaluate(async () => {
  const rows = new Set<string>()
  const see = new MutationObserver((all) => all.forEach((m) => rows.add((m.target.parentElement?.closest('.uploads > li') ?? m.target as Element).querySelector?.('strong')?.textContent ?? '?')))
  see.observe(document.querySelector('#tray') as Element, { subtree: true, childList: true, attributes: true, characterData: true })
  const before = document.querySelector('.uploads')?.textContent
  while (document.querySelector('.uploads')?.textContent === before) await new Promise((resolve) => setTimeout(resolve, 20))
  return [...rows]
})

async function chunksOf(id: string, document: string): Promise<string[]> {
  const answer = JSON.parse(await ask('GET', `/v1/knowledge-bases/${id}/documents/${encodeURIComponent(document)}?limit=1000`))
  return (answer as { chunks: { content: string }[] }).chunks.map((c) => c.content)
}

inBothLanguages('uploads outlive their dialog and their page, and failures stay until they are cleared', async (page, t, language) => {
  const id = `queue-${language}`
  await fill(id, { dimensions: 0 }, [{ id: 'a', document_id: 'a', content: 'a wombat' }])
  try {
    const letGo = await hold(page, `**/v1/knowledge-bases/${id}/{files,documents}?**`)
    await page.goto('/knowledge-bases')
    await give(page, id, t, [
      markdown('refunds.md', '# Refunds\n\nPress the button.\n\n## 退款\n\n请在订单页面申请退款。'),
      markdown('empty.txt', ''),
      markdown('lines.ndjson', '{"id": "l1", "content": "one"}\n\n{"id": 7}\nnonsense'),
      markdown('late.md', 'later'),
    ])
    const tray = trayOf(page, t)
    await expect(tray).toContainText(t('uploads.count', { done: 0, all: 4 }))
    await expect(tray).toContainText(t('uploads.waiting', { count: 2 }))
    await rowOf(page, 'late.md').getByRole('button', { name: t('uploads.cancel.of', { name: 'late.md' }) }).click()
    await page.getByRole('link', { name: t('nav.search'), exact: true }).click()
    await page.getByRole('link', { name: t('nav.bases'), exact: true }).click()
    letGo()
    await expect(rowOf(page, 'refunds.md')).toContainText(t('bases.upload.done', { count: 2 }))
    await expect(rowOf(page, 'empty.txt')).toContainText(t('bases.upload.empty'))
    await expect(rowOf(page, 'lines.ndjson')).toContainText(t('bases.upload.failures', { count: 2 }))
    for (const line of [3, 4]) await expect(rowOf(page, 'lines.ndjson')).toContainText(t('bases.upload.line', { line }))
    await expect(rowOf(page, 'late.md')).toContainText(t('bases.upload.cancelled'))
    await expect(tray).toContainText(t('uploads.failed', { count: 2 }))
    await expect(page.locator('.base', { hasText: id }).locator('.figures dd').nth(1)).toHaveText('4') // counted anew by itself
    await accessible(page)
    await rowOf(page, 'late.md').getByRole('button', { name: t('uploads.retry.of', { name: 'late.md' }) }).click()
    await expect(rowOf(page, 'late.md')).toContainText(t('bases.upload.done', { count: 1 }))
    await tray.getByRole('button', { name: t('uploads.clear'), exact: true }).click()
    await expect(page.locator('.uploads > li strong')).toHaveText(['empty.txt', 'lines.ndjson'])
    await tray.getByRole('button', { name: t('uploads.clear.failed') }).click()
    await expect(tray).toHaveCount(0)
  } finally {
    await page.unrouteAll()
    await drop(id)
  }
})

test('a file tells its chunks while it is embedded, and draws no other anew; cancelled, it leaves the document as it was', async ({ page }) => {
  const [id, t] = ['chunks', english]
  const many = 128
  const now = Date.now() // texts of an earlier run have their vectors already, and are written at once
  const sections = Array.from({ length: many }, (_, i) => `# Section ${i}\n\nThe wombat of section ${i} sleeps at ${now}. 第 ${i} 节的袋熊在睡觉。`)
  await fill(id, {}, [{ id: 'a', document_id: 'a', content: 'a wombat' }])
  try {
    await page.goto('/knowledge-bases')
    await give(page, id, t, [markdown('long.md', 'As it was.')])
    const row = rowOf(page, 'long.md')
    await expect(row).toContainText(t('bases.upload.done', { count: 1 }))
    await trayOf(page, t).getByRole('button', { expanded: true }).click()
    await hold(page, '**/files?**name=other**')
    await give(page, id, t, [markdown('other.md', 'held'), markdown('long.md', sections.join('\n\n')), markdown('note.md', 'waits')])
    const progress = t('bases.upload.chunks', { done: '(32|64)', all: many }).replaceAll('/', '\\/')
    await expect(row).toContainText(new RegExp(progress), { timeout: 120_000 })
    expect(await drawnAnew(page)).toEqual(['long.md'])
    await row.getByRole('button', { name: t('uploads.cancel.of', { name: 'long.md' }) }).click()
    await expect(row).toContainText(t('bases.upload.cancelled'))
    await atRest() // whatever the upload writes is written
    expect(await chunksOf(id, 'long.md')).toEqual(['As it was.'])
    await row.getByRole('button', { name: t('uploads.retry.of', { name: 'long.md' }) }).click()
    await expect(row).toContainText(t('bases.upload.done', { count: many }), { timeout: 200_000 })
    expect(await chunksOf(id, 'long.md')).toHaveLength(many)
  } finally {
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await drop(id)
  }
})

test('many files: two at a time, few rows, and what failed is sent again', async ({ page }) => {
  const id = 'many-files'
  await fill(id, { dimensions: 0 }, [{ id: 'a', document_id: 'a', content: 'a wombat' }])
  const under = new Set<Request>()
  let most = 0
  page.on('request', (r) => {
    if (r.url().includes(`/${id}/files?`)) most = Math.max(most, under.add(r).size)
  })
  page.on('requestfinished', (r) => under.delete(r))
  page.on('requestfailed', (r) => under.delete(r))
  let refuse = true
  await page.route(/\/files\?.*note-(7|60)\.md/, (route) => (refuse ? route.abort() : route.continue()))
  try {
    await page.goto('/knowledge-bases')
    await give(page, id, english, Array.from({ length: 80 }, (_, i) => markdown(`note-${i}.md`, `note ${i}`)))
    const tray = trayOf(page, english)
    await expect(tray).toContainText('of 80 uploaded')
    expect(await page.locator('.uploads > li').count()).toBeLessThanOrEqual(51)
    await expect(tray).toContainText('78 of 80 uploaded', { timeout: 200_000 })
    expect(most).toBe(2)
    await expect(page.locator('.uploads > li strong').nth(0)).toHaveText('note-7.md')
    await expect(page.locator('.uploads > li strong').nth(1)).toHaveText('note-60.md')
    await expect(rowOf(page, 'note-7.md')).toContainText(english('error.unreachable'))
    refuse = false
    await tray.getByRole('button', { name: english('uploads.retry.all') }).click()
    await expect(tray).toContainText('80 of 80 uploaded')
    expect(await page.locator('.uploads > li').count()).toBe(51)
    await expect(page.locator('.base', { hasText: id }).locator('.figures dd').nth(0)).toHaveText('81')
  } finally {
    await page.unrouteAll()
    await drop(id)
  }
})

test('the browser asks before the tab is closed while files wait', async ({ context }) => {
  const id = 'leaving'
  await fill(id, { dimensions: 0 }, [{ id: 'a', document_id: 'a', content: 'a wombat' }])
  const page = await context.newPage() // the fixture's takes any dialog for a fault
  try {
    const letGo = await hold(page, '**/files?**')
    await page.goto(`${base()}/knowledge-bases`)
    await give(page, id, english, [markdown('note.md', 'note')])
    const asked = page.waitForEvent('dialog')
    void page.close({ runBeforeUnload: true })
    expect((await asked).type()).toBe('beforeunload')
    await (await asked).dismiss()
    letGo()
    await expect(trayOf(page, english)).toContainText('1 of 1 uploaded')
    const closed = page.waitForEvent('close')
    await page.close({ runBeforeUnload: true })
    await closed
  } finally {
    await drop(id)
  }
})

test('a folder is dropped with all below it, but what no chunk can be made of', async ({ page }) => {
  const id = 'folders'
  await fill(id, { dimensions: 0 }, [{ id: 'a', document_id: 'a', content: 'a wombat' }])
  const folder = await mkdtemp(join(tmpdir(), 'hybridge-web-'))
  try {
    await mkdir(join(folder, 'guides', 'deep'), { recursive: true })
    await writeFile(join(folder, 'guides', 'one.md'), 'one')
    await writeFile(join(folder, 'guides', 'deep', 'two.txt'), 'two')
    await writeFile(join(folder, 'guides', '.hidden.md'), 'hidden')
    await writeFile(join(folder, 'guides', 'photo.png'), 'no text')
    await writeFile(join(folder, 'three.md'), 'three')
    await page.goto('/knowledge-bases')
    const dialog = await dialogOf(page, id, english)
    const place = await dialog.locator('.drop').boundingBox()
    if (!place) throw new Error('there is no place to drop')
    const cdp = await page.context().newCDPSession(page)
    const data = { items: [], files: [join(folder, 'guides'), join(folder, 'three.md')], dragOperationsMask: 1 }
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      await cdp.send('Input.dispatchDragEvent', { type, x: place.x + 20, y: place.y + 20, data })
    }
    await expect(dialog.getByRole('status')).toContainText(english('bases.upload.queued', { count: 3 }))
    await expect(dialog.getByRole('status')).toContainText(english('bases.upload.passed', { count: 2 }))
    await expect(trayOf(page, english)).toContainText('3 of 3 uploaded')
    const listed = JSON.parse(await ask('GET', `/v1/knowledge-bases/${id}/documents`)) as { documents: { document_id: string }[] }
    expect(listed.documents.map((d) => d.document_id)).toEqual(['a', 'guides/deep/two.txt', 'guides/one.md', 'three.md'])
  } finally {
    await rm(folder, { recursive: true })
    await drop(id)
  }
})
