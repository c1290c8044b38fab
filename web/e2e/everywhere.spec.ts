import { expect, test, texts, accessible } from './fixture'

export const addresses = {
  search: '/?q=' + encodeURIComponent('如何调整关键词和向量的权重'),
  compare: '/compare?q=' + encodeURIComponent('how are scores fused'),
  'knowledge-bases': '/knowledge-bases',
  mappings: '/mappings',
  synonyms: '/synonyms',
  playground: '/playground?q=' + encodeURIComponent('how are scores fused'),
}

test('both dictionaries have the same keys and values', () => {
  expect(Object.keys(texts.zh).sort()).toEqual(Object.keys(texts.en).sort())
  const values = (s: string) => [...s.matchAll(/\{\w+\}/g)].map(String).sort()
  for (const [key, value] of Object.entries(texts.en)) {
    expect(values(texts.zh[key as keyof typeof texts.zh]), key).toEqual(values(value))
  }
})

for (const [name, address] of Object.entries(addresses)) {
  for (const theme of ['light', 'dark'] as const) {
    for (const width of [375, 1440]) {
      test(`${name}, ${theme}, ${width} px: no violation, nothing cut off`, async ({ page }) => {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
        await page.setViewportSize({ width, height: width === 375 ? 812 : 900 })
        await page.goto(address)
        await page.waitForLoadState('networkidle')
        await expect(page.locator('.skeleton')).toHaveCount(0)
        await accessible(page)
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
        const folder = process.env.HYBRIDGE_SCREENSHOTS
        if (folder) await page.screenshot({ path: `${folder}/${name}-${theme}-${width}.png` })
      })
    }
  }
}
