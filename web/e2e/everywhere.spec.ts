import type { Page } from '@playwright/test'
import { accessible, drop, expect, fill, test, texts } from './fixture'

const elasticsearch = Boolean(process.env.HYBRIDGE_TEST_ELASTICSEARCH_URL)

export const addresses = {
  search: '/?kb=docs&q=' + encodeURIComponent('如何调整关键词和向量的权重'),
  compare: '/compare?kb=docs&q=' + encodeURIComponent('how are scores fused'),
  document: '/documents/docs/zh%2Fpresets.md?kb=docs&chunk=zh%2Fpresets.md%232&q=' + encodeURIComponent('如何调整关键词和向量的权重'),
  'knowledge-bases': '/knowledge-bases',
  'knowledge-base': '/knowledge-bases/docs',
  mappings: elasticsearch ? '/mappings?kb=manuals' : '/mappings',
  synonyms: '/synonyms',
  presets: '/presets?of=rrf',
  rules: '/rules?kb=docs',
  playground: '/playground?kb=docs&q=' + encodeURIComponent('how are scores fused'),
}

test.beforeAll(async () => {
  if (!elasticsearch) return
  const chunks = Array.from({ length: 40 }, (_, i) => ({
    id: `c${i}`, document_id: `d${i % 5}`, document_name: `manual-${i % 5}.md`, content: `step ${i}`, vector: [1, i / 40, 0, 0.5],
  }))
  await fill('manuals', { name: 'Manuals', engine: 'elasticsearch', dimensions: 4 }, chunks)
})

test.afterAll(async () => {
  if (elasticsearch) await drop('manuals')
})

/** Shows a page at work rather than at rest. */
const acts: Record<string, (page: Page) => Promise<void>> = {
  search: (page) => page.locator('.why').first().click(),
  mappings: async (page) => {
    if (!elasticsearch) return
    await page.getByRole('combobox', { name: texts.en['map.vector_index'] }).selectOption('hnsw')
    await page.getByRole('button', { name: texts.en['map.plan'], exact: true }).click()
    await expect(page.getByText(texts.en['map.plan.dry'])).toBeVisible()
  },
  synonyms: (page) => page.getByRole('textbox', { name: texts.en['syn.rules'] }).fill('car, auto, vehicle\n退款 => 退货^0.5, 返款\nml, machine learning'),
}

for (const [name, address] of Object.entries(addresses)) {
  for (const width of [375, 1440]) { // a page asks for its width when it loads, the theme is a style
    test(`${name}, light and dark, ${width} px: no violation, nothing cut off`, async ({ page }) => {
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
      await page.setViewportSize({ width, height: width === 375 ? 812 : 900 })
      await page.goto(address)
      await page.waitForLoadState('networkidle')
      await expect(page.locator('.skeleton')).toHaveCount(0)
      await acts[name]?.(page)
      for (const theme of ['light', 'dark'] as const) {
        await test.step(theme, async () => {
          await page.emulateMedia({ colorScheme: theme })
          await accessible(page, theme === 'dark')
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
          const folder = process.env.HYBRIDGE_TEST_SCREENSHOTS
          if (folder) await page.screenshot({ path: `${folder}/${name}-${theme}-${width}.png` })
        })
      }
    })
  }
}
