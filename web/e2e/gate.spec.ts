import { accessible, ask, drop, expect, fill, test, text } from './fixture'
import { elasticsearch } from './skip'

const t = (key: Parameters<typeof text>[1], values?: Parameters<typeof text>[2]) => text('en', key, values)

// The gateway's analyzer keeps words apart, the one of the new index looks at single characters.
test('a relevance gate refuses a change that loses answers, and passes one that does not', async ({ page }) => {
  elasticsearch()
  const chunks = Array.from({ length: 12 }, (_, i) => ({ id: `c${i}`, document_id: `d${i}`, content: `order ${i} ${i < 6 ? '海上' : '上海'}` }))
  await fill('gated', { engine: 'elasticsearch', dimensions: 0 }, chunks)
  const panel = page.getByRole('region', { name: t('map.status') })
  const apply = async (question: string) => {
    await page.goto('/mappings?kb=gated')
    await page.getByRole('combobox', { name: t('map.analyzer') }).selectOption('standard')
    await page.getByText(t('map.options')).click()
    await page.getByLabel(t('map.gate')).fill(`order 3\n${question}`)
    await page.getByLabel(t('map.overlap')).fill('0.9')
    await page.getByRole('button', { name: t('map.plan'), exact: true }).click()
    await page.getByRole('button', { name: t('map.apply') }).click()
    await page.getByRole('dialog').getByRole('button', { name: t('map.apply') }).click()
  }
  const act = async (action: string) => {
    await panel.getByRole('button', { name: action }).click()
    await page.getByRole('dialog').getByRole('button', { name: action }).click()
  }
  try {
    await apply('上海')
    await expect(panel.getByRole('status')).toContainText(t('map.state.failed'), { timeout: 120_000 })
    const gate = panel.locator('.checks li', { hasText: t('map.gate.result') })
    await expect(gate).toContainText(t('map.refused'))
    await expect(gate).toContainText(/overlap@10 is 0\.[5-8]/)
    await expect(panel.getByRole('alert')).toContainText('relevance gate')
    expect(await ask('GET', '/v1/mappings/gated/live')).not.toContain('text_text')
    await accessible(page)
    await act(t('map.action.cancel'))
    await expect(panel.getByRole('status')).toContainText(t('map.state.cancelled'), { timeout: 120_000 })

    await apply('order')
    await expect(panel.getByRole('status')).toContainText(t('map.state.switched'), { timeout: 120_000 })
    await expect(gate).toContainText(t('map.passed'))
    expect(await ask('GET', '/v1/mappings/gated/live')).toContain('text_text')
    await act(t('map.action.cleanup'))
    await expect(panel.getByRole('status')).toContainText(t('map.state.done'), { timeout: 120_000 })
  } finally {
    await drop('gated')
  }
})
