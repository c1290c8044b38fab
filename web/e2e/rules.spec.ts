import { accessible, ask, drop, expect, fill, inBothLanguages } from './fixture'

// A rule pins one document and hides another for a question; leaving asks first, and an earlier version comes back.
inBothLanguages('rules pin and hide, and are taken back', async (page, t, language) => {
  const kb = `ruled-${language}`
  const chunk = (n: number) => ({ id: `c${n}`, document_id: `d${n}`, document_name: `part-${n}.md`, content: `How long a refund takes, part ${n}. 退款需要多久，第 ${n} 部分。` })
  await fill(kb, { dimensions: 0 }, [1, 2, 3].map(chunk))
  const answer = async (query: string) => {
    const { hits } = JSON.parse(await ask('POST', '/v1/search', JSON.stringify({ query, knowledge_bases: [kb] }))) as { hits: { id: string }[] }
    return hits.map((h) => h.id)
  }
  await page.goto(`/rules?kb=${kb}`)
  await expect(page.getByText(t('rules.none'))).toBeVisible()
  await page.getByRole('button', { name: t('rules.add') }).click()
  await page.getByRole('textbox', { name: t('rules.name') }).fill('refunds')
  await page.getByRole('textbox', { name: t('rules.phrases') }).fill('refund\n退款')
  await page.getByRole('textbox', { name: t('rules.pin') }).fill('c3')
  await page.getByRole('textbox', { name: t('rules.hide') }).fill('document: d1')
  await page.getByRole('link', { name: t('nav.search'), exact: true }).click()
  await page.getByRole('button', { name: t('unsaved.stay') }).click()
  await accessible(page)
  await page.getByRole('button', { name: t('syn.save') }).click()
  await expect(page.getByText(t('rules.saved', { version: 1, rules: 1 }))).toBeVisible()
  expect(await answer('refund')).toEqual(['c3', 'c2'])
  expect(await answer('退款多久')).toEqual(['c3', 'c2'])

  await page.getByRole('button', { name: t('rules.remove.name', { name: 'refunds' }) }).click()
  await page.getByRole('button', { name: t('syn.save') }).click()
  await expect(page.getByText(t('rules.saved', { version: 2, rules: 0 }))).toBeVisible()
  expect(await answer('refund')).toHaveLength(3)
  await page.getByRole('button', { name: t('syn.rollback', { version: 1 }) }).click()
  await expect(page.getByRole('textbox', { name: t('rules.pin') })).toHaveValue('c3')
  expect(await answer('refund')).toEqual(['c3', 'c2'])
  await drop(kb)
})
