import { accessible, ask, drop, expect, fill, inBothLanguages, test } from './fixture'
import { elasticsearch } from './skip'

test.describe.configure({ mode: 'serial' })

inBothLanguages('a vector of the title is added to a knowledge base that is there', async (page, t, language) => {
  elasticsearch()
  const id = `entitled-${language}`
  await fill(id, { engine: 'elasticsearch' }, [{ id: 'a', document_id: 'd', title: 'Refunds', content: 'Press the button.' }])
  try {
    await page.goto(`/mappings?kb=${id}`)
    await page.getByRole('combobox', { name: t('map.titles') }).selectOption(t('bases.source.title'))
    await page.getByRole('button', { name: t('map.plan'), exact: true }).click()
    await expect(page.getByText('mappings.properties.title_vector')).toBeVisible()
    await expect(page.getByText(t('map.class.needs_reindex')).first()).toBeVisible()
    await accessible(page)
    await page.getByRole('button', { name: t('map.apply') }).click()
    await page.getByRole('dialog').getByRole('button', { name: t('map.apply') }).click()
    await expect(page.getByRole('region', { name: t('map.status') }).getByRole('status')).toContainText(t('map.state.switched'), { timeout: 120_000 })
    expect(JSON.parse(await ask('GET', `/v1/knowledge-bases/${id}`))).toMatchObject({ vector_fields: [{ name: 'title_vector', source: 'title' }] })
  } finally {
    await drop(id)
  }
})

inBothLanguages('words in titles count more in a knowledge base of the gateway itself', async (page, t, language) => {
  const id = `counted-${language}`
  await fill(id, { engine: 'embedded' }, [{ id: 'a', document_id: 'd', title: 'Refunds', content: 'Press the button.' }])
  try {
    await page.goto(`/mappings?kb=${id}`)
    await expect(page.getByText(t('map.same'))).toBeVisible()
    await expect(page.getByRole('combobox', { name: t('map.vector_index') })).toHaveCount(0)
    await page.getByRole('combobox', { name: t('map.title_boost') }).selectOption('3')
    await page.getByRole('button', { name: t('map.plan'), exact: true }).click()
    await expect(page.getByText('fields.title')).toBeVisible()
    await accessible(page)
    await page.getByRole('button', { name: t('map.apply') }).click()
    await page.getByRole('dialog').getByRole('button', { name: t('map.apply') }).click()
    const panel = page.getByRole('region', { name: t('map.status') })
    await expect(panel.getByRole('status')).toContainText(t('map.state.switched'), { timeout: 120_000 })
    expect(JSON.parse(await ask('GET', `/v1/knowledge-bases/${id}`))).toMatchObject({ fields: { title: 3 } })
    await panel.getByRole('button', { name: t('map.action.rollback') }).click()
    await page.getByRole('dialog').getByRole('button', { name: t('map.action.rollback') }).click()
    await expect(panel.getByRole('status')).toContainText(t('map.state.rolled_back'), { timeout: 120_000 })
    expect(JSON.parse(await ask('GET', `/v1/knowledge-bases/${id}`)).fields).toBeUndefined()
  } finally {
    await drop(id)
  }
})

inBothLanguages('a mapping is planned, applied, rolled back and planned again', async (page, t, language) => {
  elasticsearch()
  const id = `mapped-${language}`
  const chunks = Array.from({ length: 60 }, (_, i) => ({
    id: `c${i}`, document_id: `d${i % 6}`, document_name: `manual-${i % 6}.md`, content: `step ${i} of the refund`, vector: [1, i / 60, 0, 0.5],
  }))
  await fill(id, { name: `Manuals ${language}`, engine: 'elasticsearch', dimensions: 4 }, chunks)
  try {
    await page.goto(`/mappings?kb=${id}`)
    await expect(page.getByText(t('map.same'))).toBeVisible()
    await page.getByRole('combobox', { name: t('map.vector_index') }).selectOption('hnsw')
    await page.getByRole('button', { name: t('map.plan'), exact: true }).click()
    await expect(page.getByText(t('map.plan.dry'))).toBeVisible()
    await expect(page.locator('.pipeline li')).not.toHaveCount(0)
    await expect(page.getByText(t('map.undo.switch'))).toBeVisible() // the way back, before anything is done
    await expect(page.getByText(language === 'zh' ? /约 < 1秒/ : /about < 1 second/).first()).toBeVisible()
    await expect(page.locator('.removed')).toHaveText('int8_hnsw')
    await expect(page.locator('.added')).toHaveText('hnsw')
    await expect(page.getByText(t('map.class.needs_reindex')).first()).toBeVisible()
    await accessible(page)
    await page.getByRole('button', { name: t('map.apply') }).click()
    await page.getByRole('dialog').getByRole('button', { name: t('map.apply') }).click()
    const panel = page.getByRole('region', { name: t('map.status') })
    await expect(panel.getByRole('status')).toContainText(t('map.state.switched'), { timeout: 120_000 })
    await expect(panel.locator('.checks li').first()).toContainText(t('map.passed'))
    await expect(panel.locator('.pipeline li.done')).toHaveCount(await panel.locator('.pipeline li').count()) // each with how long it took
    await expect(panel.locator('.pipeline li', { hasText: t('map.step.switch') })).toContainText(language === 'zh' ? /[\d.]+秒/ : /[\d.]+ seconds?/)
    const plan = page.getByRole('button', { name: t('map.plan'), exact: true })
    await expect(plan).toBeDisabled() // two migrations at a time there are none
    await expect(plan).toHaveAccessibleDescription(t('map.waits.switched'))
    await accessible(page)
    expect(await ask('GET', `/v1/mappings/${id}/live`)).toContain('"hnsw"')
    await panel.getByRole('button', { name: t('map.action.rollback') }).click()
    await page.getByRole('dialog').getByRole('button', { name: t('map.action.rollback') }).click()
    await expect(panel.getByRole('status')).toContainText(t('map.state.rolled_back'), { timeout: 120_000 })
    expect(await ask('GET', `/v1/mappings/${id}/live`)).toContain('int8_hnsw')
    await expect(page.locator('table').last().getByRole('row')).not.toHaveCount(0)
  } finally {
    await drop(id)
  }
})
