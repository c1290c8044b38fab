import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { accessible, expect, inBothLanguages } from './fixture'

inBothLanguages('columns are compared, judged and exported', async (page, t, language) => {
  await page.goto('/compare')
  await page.getByRole('textbox', { name: t('compare.label') }).fill('how are scores fused')
  await page.getByRole('button', { name: t('compare.go'), exact: true }).click()
  const sides = page.locator('.side')
  await expect(sides).toHaveCount(3)
  await expect(sides.first().locator('.compared')).toHaveCount(10)
  await expect(page.locator('.agreement tbody tr')).toHaveCount(3)
  await expect(page.locator('.agreement')).toContainText(t('compare.overlap', { k: 10 }))
  expect(await page.locator('.lines path').count()).toBeGreaterThan(2)
  await expect(page.locator('.compared.unique').first()).toContainText(t('compare.unique'))

  const card = sides.first().locator('.compared').first()
  await card.getByRole('button', { name: t('compare.good') }).click()
  await expect(card.getByRole('button', { name: t('compare.good') })).toHaveAttribute('aria-pressed', 'true')
  await expect(page.getByText(t('compare.judged', { count: 1 }))).toBeVisible()
  const qrels = await saved(page, () => page.getByRole('button', { name: 'qrels.tsv' }).click())
  expect(qrels).toMatch(/^query-id\tcorpus-id\tscore\nq1\t\S+\t2\n$/)
  const queries = await saved(page, () => page.getByRole('button', { name: 'queries.jsonl' }).click())
  expect(JSON.parse(queries)).toEqual({ _id: 'q1', text: 'how are scores fused' })
  const corpus = await saved(page, () => page.getByRole('button', { name: 'corpus.jsonl' }).click())
  expect(corpus.split('\n').filter(Boolean).map((line) => (JSON.parse(line) as { _id: string })._id)).toContain(qrels.split('\t')[3])
  if (language === 'en') await evaluated({ 'qrels.tsv': qrels, 'queries.jsonl': queries, 'corpus.jsonl': corpus })

  const csv = await saved(page, () => page.getByRole('button', { name: 'CSV' }).click())
  expect(csv.trim().split('\r\n')).toHaveLength(31)
  const json = JSON.parse(await saved(page, () => page.getByRole('button', { name: 'JSON', exact: true }).click())) as { rbo: unknown }[]
  expect(json[0]?.rbo).toBeTruthy()

  await page.reload()
  await expect(card.getByRole('button', { name: t('compare.good') })).toHaveAttribute('aria-pressed', 'true')
  await page.getByRole('button', { name: t('compare.add') }).click()
  await expect(sides).toHaveCount(4)
  await page.getByRole('button', { name: t('compare.remove', { n: 4 }) }).click()
  await expect(sides).toHaveCount(3)
  await accessible(page)
})

inBothLanguages('of many questions those come first on which the columns differ', async (page, t) => {
  const questions = ['how are scores fused', 'api keys', '如何调整权重']
  await page.goto(`/compare?col=text~~&col=vector~~&q=${encodeURIComponent(questions.join('\n'))}`)
  await expect(page.getByText(t('compare.list.progress', { done: 3, all: 3 }))).toBeVisible()
  const rbo = (await page.locator('.question-list tbody td:last-child').allTextContents()).map(Number)
  expect(rbo).toHaveLength(3)
  expect([...rbo].sort((a, b) => a - b)).toEqual(rbo)
  await page.locator('.question-list').getByRole('button', { name: 'api keys' }).click()
  await expect(page).toHaveURL(/at=1/)
})

/** The saved files are a retrieval set, as `hybridge eval` measures it. */
async function evaluated(files: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'hybridge-judged-'))
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
    const binary = process.env.HYBRIDGE_TEST_BINARY ?? 'hybridge'
    const { stdout } = await promisify(execFile)(binary, ['eval', '--data', folder, '--vectors=', '--presets', 'text', '--json'])
    const report = JSON.parse(stdout) as { sets: { documents: number; queries: number; figures: Record<string, unknown>[] }[] }
    expect(report.sets).toHaveLength(1)
    expect(report.sets[0]).toMatchObject({ documents: files['corpus.jsonl']?.trim().split('\n').length, queries: 1 })
    expect(report.sets[0]?.figures[0]).toMatchObject({ system: 'text', 'recall@100': { mean: 1 } })
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The text of a file that an act saves. */
async function saved(page: import('@playwright/test').Page, act: () => Promise<void>): Promise<string> {
  const download = page.waitForEvent('download')
  await act()
  return (await readFile(await (await download).path(), 'utf8')).replace(/^\uFEFF/, '')
}
