import { accessible, drop, expect, fill, inBothLanguages, questionOf, test, text } from './fixture'

/** A document of many chunks, longer than one listing, under headings; every 150th has a word that the others have not. */
const long = Array.from({ length: 450 }, (_, i) => ({
  id: `m${i}`, document_id: 'shop/manual.md', document_name: 'manual.md', ordinal: i,
  title: i === 0 ? 'Manual' : `Manual > Part ${Math.floor(i / 50)}`, positions: [[i * 10, i * 10 + 4]],
  content: i % 150 === 10 ? `A warranty is given for ${i} days. 保修期为 ${i} 天。` : `Step ${i} of the way.`,
  metadata: { team: 'support', url: i === 0 ? 'javascript:alert(1)' : `https://example.org/manual/${i}` },
}))

test.beforeAll(() => fill('manual', { dimensions: 0 }, [...long, { id: 'other', document_id: 'other.md', content: 'A warranty of another kind' }]))
test.afterAll(async () => void (await drop('manual')))

inBothLanguages('a hit opens its document at its chunk, from match to match, and back to the hits', async (page, t) => {
  await page.goto('/?kb=manual&per=20&size=20&q=warranty')
  await page.locator('.hit').filter({ hasText: '310' }).getByRole('link').click()
  await expect(page).toHaveURL(/\/documents\/manual\/shop%2Fmanual\.md\?.*chunk=m310/)
  const chosen = page.locator('.passage.chosen')
  await expect(chosen).toContainText('310') // in the second listing of chunks
  await expect(chosen).toBeInViewport()
  await expect(chosen.locator('mark').first()).toHaveText('warranty')
  await expect(page).toHaveTitle(/shop\/manual\.md/)
  await expect(chosen).toContainText(t('why.in'))
  await expect(chosen.getByRole('table')).toContainText(t('hit.contribution'))
  await expect(chosen.locator('.under')).toContainText(t('hit.lines', { first: 3100, last: 3104 }))
  await expect(chosen.getByRole('link')).toHaveAttribute('href', 'https://example.org/manual/310')
  await expect(page.locator('.about')).toContainText('support')
  await expect(page.locator('.outline [aria-current]')).toHaveText('Part 6')
  const at = page.locator('.finder [role="status"]')
  await expect(at).toHaveText(t('doc.matches.at', { n: 3, count: 3 }))
  await page.getByRole('button', { name: t('doc.next') }).click() // the first follows the last
  await expect(at).toHaveText(t('doc.matches.at', { n: 1, count: 3 }))
  await expect(page).toHaveURL(/chunk=m10(&|$)/)
  await expect(chosen).toBeInViewport()
  await page.locator('.outline').getByRole('button', { name: 'Manual' }).click()
  await expect(chosen).toContainText(t('why.out'))
  await expect(chosen.locator('.told')).toContainText(t('why.leg.words', { leg: t('hit.leg.text') }))
  await expect(chosen.getByRole('link')).toHaveCount(0) // no address that runs something
  await page.getByRole('searchbox', { name: t('doc.find') }).fill('保修期')
  await page.keyboard.press('Enter')
  await expect(at).toHaveText(t('doc.matches', { count: 3 }))
  await page.getByRole('link', { name: t('doc.back') }).click()
  await expect(page).toHaveURL(/\/\?kb=manual&per=20&size=20&q=%E4%BF%9D%E4%BF%AE%E6%9C%9F$/)
  await expect(questionOf(page)).toHaveValue('保修期')
})

test('what is not there is said: the document, the chunk, the knowledge base', async ({ page }) => {
  const t = (key: Parameters<typeof text>[1], values = {}) => text('en', key, values)
  await page.goto('/documents/manual/nothing.md?q=warranty')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(t('doc.unknown'))
  await accessible(page)
  await page.goto('/documents/nowhere/nothing.md')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(t('doc.unknown'))
  await page.goto('/documents/manual/other.md?chunk=m7')
  await expect(page.getByText(t('doc.chunk.unknown', { id: 'm7' }))).toBeVisible()
  await expect(page.locator('.passage')).toHaveCount(1)
  await page.goto('/documents/manual/other.md?q=warranty&chunk=other')
  await expect(page.locator('.passage.chosen').getByRole('table')).toBeVisible()
  await accessible(page)
})
