import { gzipSync } from 'node:zlib'
import { drop, expect, fill, test } from './fixture'

test('the first load is small and quick', async ({ page }) => {
  const scripts: Promise<number>[] = []
  page.on('response', (r) => {
    if (r.request().resourceType() === 'script') scripts.push(r.body().then((b) => gzipSync(b, { level: 9 }).length))
  })
  await page.addInitScript(() => {
    new PerformanceObserver((list) => {
      for (const e of list.getEntries()) performance.mark('lcp', { startTime: e.startTime })
    }).observe({ type: 'largest-contentful-paint', buffered: true })
  })
  await page.goto('/')
  await expect(page.locator('h2').first()).toBeVisible()
  await page.waitForLoadState('networkidle')
  const size = (await Promise.all(scripts)).reduce((a, b) => a + b, 0)
  const lcp = await page.evaluate(() => performance.getEntriesByName('lcp').at(-1)?.startTime ?? -1)
  console.log(`script ${(size / 1000).toFixed(1)} kB gzip, largest contentful paint ${Math.round(lcp)} ms`)
  expect(size).toBeLessThan(150_000)
})

test('a hundred hits are drawn', async ({ page }) => {
  const chunks = Array.from({ length: 120 }, (_, i) => ({
    id: `c${i}`, document_id: `d${i % 20}`, document_name: `note-${i % 20}.md`, title: `Note ${i}`,
    content: `A refund is made within ${i} days of the request. 退款将在申请后 ${i} 天内退回原支付卡。`.repeat(4),
  }))
  await fill('hundred', { dimensions: 0 }, chunks)
  await page.goto('/?kb=hundred&size=100&per=100&q=refund')
  await expect(page.locator('.hit')).toHaveCount(100)
  const draws: number[] = []
  for (const q of ['退款', 'refund request', 'refund', 'card', '申请']) {
    await page.evaluate(() => performance.clearMeasures('draw'))
    await page.getByRole('searchbox').fill(q)
    await page.getByRole('searchbox').press('Enter')
    await page.waitForFunction(() => performance.getEntriesByName('draw').length > 0)
    draws.push(await page.evaluate(() => performance.getEntriesByName('draw')[0]?.duration ?? -1))
  }
  draws.sort((a, b) => a - b)
  console.log(`100 hits drawn in ${draws.map((d) => d.toFixed(0)).join(', ')} ms`)
  expect(draws.length).toBe(5)
  await drop('hundred')
})
