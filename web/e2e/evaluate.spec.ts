import type { Page } from '@playwright/test'
import { accessible, ask, expect, fill, drop, inBothLanguages, test, text } from './fixture'

const t = (key: Parameters<typeof text>[1], values?: Parameters<typeof text>[2]) => text('en', key, values)
const read = async <T>(path: string) => JSON.parse(await ask('GET', path)) as T
const remove = (path: string) => ask('DELETE', path).catch(() => '')

const questions = ['how are scores fused', 'how do I back up a gateway', 'what is a preset', '如何调整关键词和向量的权重', 'which files can be uploaded', '怎样备份和恢复',
  'how do filters work', 'how to restrict a key', '如何配置同义词', 'limits of a request', 'how to tune weights', 'what does answerable mean']

interface Found { hits: { id: string }[] }

/** A query set whose judge likes what keywords find first, so that presets differ. */
async function seeded(set: string, lists: string[]) {
  await remove(`/v1/query-sets/${set}`)
  await ask('PUT', `/v1/query-sets/${set}`, JSON.stringify({ name: `Set ${set}`, knowledge_bases: ['docs'] }))
  await ask('POST', `/v1/query-sets/${set}/queries`, JSON.stringify({ queries: questions.map((said, i) => ({ id: `q${i + 10}`, text: said })) }))
  for (const [n, list] of lists.entries()) {
    await ask('PUT', `/v1/judgments/${list}`, JSON.stringify({ query_set: set, name: `Judge ${list}` }))
    const judgments: object[] = []
    for (const [i, query] of questions.entries()) {
      const { hits } = JSON.parse(await ask('POST', '/v1/search', JSON.stringify({ query, knowledge_bases: ['docs'], preset: 'text', top_k: 4 }))) as Found
      hits.forEach((h, rank) => judgments.push({ query_id: `q${i + 10}`, chunk_id: h.id, grade: Math.max(0, 3 - rank - (n > 0 && i % 3 === 0 ? 1 : 0)) }))
    }
    await ask('POST', `/v1/judgments/${list}/judgments`, JSON.stringify({ judgments }))
  }
}

/** An evaluation that is done, by its id. */
async function evaluated(set: string, list: string, systems: object[]): Promise<string> {
  const { id } = JSON.parse(await ask('POST', '/v1/evaluations', JSON.stringify({ query_set: set, judgments: list, systems }))) as { id: string }
  await expect(async () => expect((await read<{ state: string }>(`/v1/evaluations/${id}`)).state).toBe('done')).toPass()
  return id
}

const presets = (...names: string[]) => names.map((name) => ({ name, request: { preset: name } }))

inBothLanguages('questions are pasted, judged by keys, and measured', async (page, t, language) => {
  const name = `Pasted ${language}`
  const set = `pasted-${language}`
  await remove(`/v1/query-sets/${set}`)
  await page.goto('/evaluate?view=questions')
  await page.getByRole('button', { name: t('eval.set.new') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('eval.set.name')).fill(name)
  await dialog.getByRole('checkbox', { name: 'Hybridge documentation' }).check()
  await dialog.getByLabel(t('eval.set.questions')).fill('how are scores fused\nhow do filters work\nhow are scores fused\n')
  await expect(dialog.getByText(t('eval.set.count', { count: 2 }))).toBeVisible()
  await accessible(page)
  await dialog.getByRole('button', { name: t('eval.set.make') }).click()
  await expect(dialog).toBeHidden()

  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) })
  await card.getByLabel(t('eval.list.new')).fill('Ada')
  await card.getByRole('button', { name: t('eval.list.make') }).click()
  await card.getByRole('link', { name: t('eval.list.judge.of', { name: 'Ada' }) }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(t('judge.title', { list: 'Ada' }))
  await page.goto(`${page.url()}?preset=text&k=5`)
  const hit = page.getByRole('article', { name: t('judge.hit') })
  const left = (n: number, judged: number, at = 1) => expect(page.getByText(t('judge.progress', { at, all: 2, left: n, judged }))).toBeVisible()
  await left(5, 0)
  await expect(hit.locator('mark').first()).toBeVisible()
  const first = await hit.textContent()
  await page.keyboard.press('3')
  await left(4, 1)
  await page.keyboard.press('u')
  await left(5, 0)
  expect(await hit.textContent()).toBe(first)
  await hit.getByRole('button', { name: t('judge.around') }).click()
  await expect(hit.locator('.around .this')).toHaveCount(1)
  await page.keyboard.press('n')
  await page.keyboard.type('s3') // within the note, keys are letters
  await page.keyboard.press('Enter')
  await accessible(page)
  await page.keyboard.press('2')
  await left(4, 1)
  for (let n = 3; n >= 1; n--) {
    await page.keyboard.press('0')
    await left(n, 5 - n)
  }
  await page.keyboard.press('s')
  await left(5, 4, 2) // the next question comes by itself
  for (let n = 4; n >= 1; n--) {
    await page.keyboard.press('1')
    await left(n, 9 - n, 2)
  }
  await page.keyboard.press('3')
  await expect(page.getByRole('heading', { name: t('judge.all') })).toBeVisible()
  const [list] = (await read<{ judgment_lists: { id: string; judgments: number }[] }>(`/v1/judgments?query_set=${set}`)).judgment_lists
  expect(list?.judgments).toBe(9)
  const { judgments } = await read<{ judgments: { note?: string; grade: number }[] }>(`/v1/judgments/${list!.id}/judgments`)
  expect(judgments.filter((j) => j.note).map((j) => [j.note, j.grade])).toEqual([['s3', 2]])

  await page.getByRole('main').getByRole('link', { name: t('eval.list.measure') }).click()
  await page.getByRole('form', { name: t('eval.new') }).getByRole('button', { name: t('eval.start') }).click()
  const results = page.getByRole('region', { name: t('eval.results') })
  await expect(results.locator('tbody tr')).toHaveCount(3)
  await results.getByRole('button', { name: 'vector' }).click()
  await expect(page).toHaveURL(/system=vector/)
  await page.locator('.bar-of').first().click()
  const question = page.locator('section', { has: page.getByRole('link', { name: t('eval.question.compare') }) })
  await expect(question.locator('ol')).toHaveCount(2)
  await accessible(page)
  await page.getByRole('link', { name: t('eval.question.compare') }).click()
  await expect(page.locator('.side')).toHaveCount(2)
  await remove(`/v1/query-sets/${set}`)
})

test.describe('with judged questions', () => {
  test.beforeAll(() => seeded('seeded', ['seeded-ada', 'seeded-wang']))
  test.afterAll(() => remove('/v1/query-sets/seeded'))

  test('the weight of keywords is swept, measured again, and held against before', async ({ page }) => {
    await page.goto('/evaluate?view=evaluations&set=seeded&list=seeded-ada')
    await page.getByLabel(t('eval.what')).selectOption('balanced')
    await page.getByRole('button', { name: t('eval.start') }).click()
    await expect(page.locator('.place')).toHaveCount(11)
    await expect(page.locator('.place.best')).toHaveCount(1)
    const curve = page.locator('figure', { has: page.locator('.band') })
    await curve.getByText(t('chart.table')).click()
    await expect(curve.locator('tbody tr')).toHaveCount(11)
    await page.getByText(t('rel.title')).click()
    const reliable = page.locator('figure', { has: page.locator('.spread') })
    await reliable.getByText(t('chart.table')).click()
    const judged = await reliable.locator('tbody td:nth-child(2)').allTextContents()
    expect(judged.reduce((sum, n) => sum + Number(n), 0)).toBeGreaterThan(questions.length) // several hits of each are judged
    await accessible(page)
    await page.getByRole('button', { name: t('eval.anew') }).click()
    await expect(page).toHaveURL(/baseline=/)
    await expect(page.getByText(t('eval.bars.same', { same: questions.length }))).toBeVisible() // nothing has changed
    await accessible(page)
  })

  test('one that runs is told, cancelled and gone on with', async ({ page }) => {
    const id = await evaluated('seeded', 'seeded-ada', presets('text', 'vector'))
    const { results: _, comparisons: __, ...of } = await read<Record<string, unknown>>(`/v1/evaluations/${id}`)
    let state = 'running'
    const asked: string[] = []
    await page.route(`**/v1/evaluations/${id}`, (r) => r.fulfill({ json: { ...of, state, answered: 7, searches: 24 } }))
    await page.route(/\/(cancel|resume)$/, (r) => {
      const what = r.request().url().split('/').at(-1)!
      asked.push(what)
      state = what === 'cancel' ? 'cancelled' : 'running'
      return r.fulfill({ status: 202, json: { ...of, state } })
    })
    await page.route('**/v1/jobs/**', (r) => r.fulfill({ status: 404, json: {} })) // that of the real one has ended
    await page.goto(`/evaluate/${id}`)
    await expect(page.getByRole('progressbar')).toBeVisible()
    await expect(page.getByText(t('eval.answered', { done: 7, all: 24 })).first()).toBeVisible()
    await page.getByRole('button', { name: t('app.cancel') }).click()
    await expect(page.getByText(t('eval.state.cancelled'))).toBeVisible()
    await page.getByRole('button', { name: t('eval.resume') }).click()
    await expect(page.getByText(t('eval.state.running'))).toBeVisible()
    expect(asked).toEqual(['cancel', 'resume'])
    await page.unrouteAll()
    await expect(page.getByRole('region', { name: t('eval.results') })).toBeVisible() // it ends by itself
  })

  test('weights are tuned, and what is recommended becomes a preset', async ({ page }) => {
    await remove('/v1/presets/seeded-rrf')
    await page.goto('/evaluate?view=tunings&set=seeded&list=seeded-ada&preset=rrf&trials=500')
    await page.getByRole('button', { name: t('tune.start') }).click()
    await expect(page.getByRole('region', { name: t('tune.folds') }).locator('tbody tr')).toHaveCount(5)
    await accessible(page)
    await page.getByRole('button', { name: t('tune.save') }).click()
    await expect(page.getByText(t('tune.saved', { name: 'seeded-rrf' }))).toBeVisible()
    const saved = await read<{ source: string; comment: string; definition: { base: string } }>('/v1/presets/seeded-rrf')
    expect([saved.source, saved.definition.base]).toEqual(['saved', 'rrf'])
    expect(saved.comment).toMatch(/^tuning \d+-/)
    await remove('/v1/presets/seeded-rrf')
  })

  test('two judges agree as far as the gateway says', async ({ page }) => {
    await page.goto('/judge/seeded-ada')
    await page.getByText(t('judge.agreement'), { exact: true }).click()
    const { kappa } = await read<{ kappa: number }>('/v1/judgments/seeded-ada/agreement?with=seeded-wang')
    await expect(page.getByText(`κ ${kappa.toFixed(2)}`)).toBeVisible()
    await expect(page.locator('.heat tbody tr')).toHaveCount(4)
    await accessible(page)
  })

  for (const width of [375, 1440]) {
    test(`${width} px, light and dark: no violation, nothing cut off`, async ({ page }) => {
      const id = await evaluated('seeded', 'seeded-ada', presets('balanced', 'text', 'vector'))
      await page.setViewportSize({ width, height: 900 })
      for (const [address, shown] of [['/evaluate?view=evaluations', 'form'], ['/evaluate?view=questions', '.lists'], [`/evaluate/${id}?q=q12`, '.graded'], ['/judge/seeded-wang', '.judged-hit']] as const) {
        await page.goto(address)
        await expect(page.locator(shown).first()).toBeVisible()
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          await accessible(page, colorScheme === 'dark')
          expect(await page.evaluate(() => document.documentElement.scrollWidth), address).toBeLessThanOrEqual(width)
        }
      }
    })
  }
})

/** The nDCG that a column of Compare shows. */
const shownBy = async (page: Page, column: number) => Number((await page.locator('.side').nth(column).locator('.measured').textContent())?.split(' ').at(-1))

test('Compare measures by the judgements of the browser what the gateway measures by them', async ({ page }) => {
  const chunks = ['refund of a payment', 'a refund takes a day, a payment too', 'payment by card', 'a day in May', 'refund refund'].map((content, i) =>
    ({ id: `c${i}`, document_id: `d${i}`, content, vector: [1, i / 3, 0, 0] }))
  await fill('measured', { dimensions: 4 }, chunks)
  try {
    const query = 'refund of a payment in a day'
    await page.goto(`/compare?kb=measured&col=text~~&col=text~1~&q=${encodeURIComponent(query)}`)
    const cards = page.locator('.side').first().locator('.compared')
    await expect(cards.first()).toBeVisible()
    await expect(page.locator('.measured')).toHaveCount(0)
    const count = await cards.count()
    await cards.nth(count - 1).getByRole('button', { name: t('compare.good') }).click()
    await cards.nth(1).getByRole('button', { name: t('compare.fair') }).click()
    await cards.nth(0).getByRole('button', { name: t('compare.bad') }).click()
    await page.getByRole('button', { name: t('compare.judged.keep') }).click()
    await expect(page.getByText(t('compare.judged.kept', { count: 3, set: 'judged-measured' }))).toBeVisible()
    const id = await evaluated('judged-measured', 'judged-measured', presets('text'))
    const { results } = await read<{ results: { metrics: { metric: string; mean: number }[] }[] }>(`/v1/evaluations/${id}`)
    const mean = results[0]!.metrics.find((m) => m.metric === 'ndcg@10')!.mean
    expect(mean).toBeGreaterThan(0.3)
    expect(mean).toBeLessThan(1)
    expect(await shownBy(page, 0)).toBeCloseTo(mean, 3)
  } finally {
    await remove('/v1/query-sets/judged-measured')
    await drop('measured')
  }
})

test('what users ask says what to set where nothing is logged, and leads to Search and into the queue', async ({ page }) => {
  await seeded('asked', ['asked-ada'])
  await page.goto('/analytics')
  await expect(page.getByText(t('ana.off'))).toBeVisible()
  await expect(page.getByText('enabled: true')).toBeVisible()
  await accessible(page)
  const question = { query: 'how do filters work', count: 7, before: 2, clicked: 1, click_through: 1 / 7, zero_result: 0, refused: 0, mean_ms: 3, slowest_ms: 9 }
  const totals = { searches: 7, pages: 0, zero_result: 0, refused: 0, failed: 0, clicked: 1, click_through: 1 / 7, median_ms: 3, p95_ms: 9 }
  await page.route('**/v1/events/analytics?*', (r) => r.fulfill({ json: { totals, before: totals, top: [question], zero_result: [], refused: [], slow: [question], changed: [], reformulated: [] } }))
  await page.goto('/analytics?kb=docs&set=asked')
  const top = page.getByRole('region', { name: t('ana.top.title') })
  await expect(top.getByRole('link', { name: question.query })).toHaveAttribute('href', '/?q=how+do+filters+work&kb=docs')
  await accessible(page)
  await top.getByRole('button', { name: t('ana.judge', { query: question.query }) }).click()
  await expect(page.getByRole('heading', { name: question.query })).toBeVisible()
  await expect(page).toHaveURL(/\/judge\/asked-ada\?only=/)
  await remove('/v1/query-sets/asked')
})
