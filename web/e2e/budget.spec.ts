import { gzipSync } from 'node:zlib'
import { drop, expect, fill, questionOf, test } from './fixture'

test('the first page loads less than 150 kB of script, and no other page', async ({ page }) => {
  const scripts = new Map<string, Promise<number>>()
  page.on('response', (r) => {
    if (r.request().resourceType() === 'script') scripts.set(r.url(), r.body().then((b) => gzipSync(b, { level: 9 }).length))
  })
  await page.goto('/')
  await expect(page.locator('h2').first()).toBeVisible()
  await page.waitForLoadState('networkidle')
  const size = (await Promise.all(scripts.values())).reduce((a, b) => a + b, 0)
  expect(size).toBeGreaterThan(0)
  expect(size).toBeLessThan(150_000)
  expect([...scripts.keys()].filter((url) => /compare|evaluat|judge|tuning|bases|mappings|synonyms|playground/.test(url))).toEqual([])
})

test('a hundred hits are drawn, and drawn anew for each question', async ({ page }) => {
  const chunks = Array.from({ length: 120 }, (_, i) => ({
    id: `c${i}`, document_id: `d${i % 20}`, document_name: `note-${i % 20}.md`, title: `Note ${i}`,
    content: `A refund is made within ${i} days of the request. 退款将在申请后 ${i} 天内退回原支付卡。`.repeat(4),
  }))
  await fill('hundred', { dimensions: 0 }, chunks)
  await page.goto('/?kb=hundred&size=100&per=100&q=refund')
  for (const word of ['refund', '退款', 'request', '申请']) {
    await questionOf(page).fill(word)
    await questionOf(page).press('Enter')
    await expect(page.locator('.hit').filter({ has: page.locator('mark', { hasText: word }) })).toHaveCount(100)
  }
  await drop('hundred')
})
