import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from '@playwright/test'
import { accessible, ahead, ask, atRest, expect, inBothLanguages, test } from './fixture'

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

const keywords = '/compare?kb=docs&col=text~~&col=text~~' // columns that embed nothing, for tests of many questions
const many = Array.from({ length: 300 }, (_, i) => `how are the scores of question ${i} fused with those that others were given before`)

const questionBox = (page: Page) => page.locator('#compare-q')

/** Counts what the page compares, by question. */
function counted(page: Page) {
  const asked: string[] = []
  page.on('request', (r) => {
    if (r.url().endsWith('/v1/compare')) asked.push((r.postDataJSON() as { query: string }).query)
  })
  return asked
}

inBothLanguages('of three hundred questions the address has an id, a few stay readable', async (page, t) => {
  test.setTimeout(300_000)
  await page.goto(keywords)
  await questionBox(page).fill(many.join('\n'))
  await page.getByRole('button', { name: t('compare.go'), exact: true }).click()
  await expect(page).toHaveURL(/[?&]set=\w+$/)
  expect(page.url().length).toBeLessThan(200)
  await expect(page.getByText(t('compare.set.kept', { count: 300 }))).toBeVisible()
  const long = page.url()

  expect((await page.reload())?.status()).toBe(200)
  await expect(questionBox(page)).toHaveValue(many.join('\n'))
  await expect(page.getByText(t('compare.list.progress', { done: 300, all: 300 }))).toBeVisible({ timeout: 200_000 })
  await expect(page.locator('.question-list tbody tr')).toHaveCount(300)
  await page.locator('.question-list').getByRole('button', { name: many[250] }).click()
  await expect(page.locator('.asked')).toHaveText(many[250]!)

  await questionBox(page).fill('how are scores fused\n如何调整权重')
  await page.getByRole('button', { name: t('compare.go'), exact: true }).click()
  await expect(page).toHaveURL((url) => url.searchParams.get('q') === 'how are scores fused\n如何调整权重' && !url.searchParams.has('set'))
  await expect(page.getByText(t('compare.list.progress', { done: 2, all: 2 }))).toBeVisible()
  await page.goBack()
  await expect(questionBox(page)).toHaveValue(many.join('\n'))
  await questionBox(page).fill(`  ${many.join(' \n\n')}`)
  await page.getByRole('button', { name: t('compare.go'), exact: true }).click()
  await expect(page).toHaveURL((url) => url.searchParams.get('set') === new URL(long).searchParams.get('set'))
})

test('an old address with many questions is moved to an id, and asks nothing twice', async ({ page }) => {
  const asked = counted(page)
  const few = many.slice(0, 60)
  await page.goto(`${keywords}&at=7&q=${encodeURIComponent(few.join('\n'))}`)
  await expect(page).toHaveURL((url) => url.searchParams.has('set') && !url.searchParams.has('q') && url.searchParams.get('at') === '7')
  await expect(questionBox(page)).toHaveValue(few.join('\n'))
  await expect(page.locator('.asked')).toHaveText(few[7]!)
  await expect.poll(() => asked.length).toBe(60)
  expect(new Set(asked).size).toBe(60)
  expect(asked[0]).toBe(few[7]) // what is shown comes first
})

inBothLanguages('a link to questions of another browser says so and takes them again', async (page, t) => {
  await page.goto(`${keywords}&set=1a2b3c4d5e`)
  await expect(page.getByText(t('compare.set.missing'), { exact: true })).toBeVisible()
  await expect(page.getByText(t('compare.start'))).toHaveCount(0)
  await accessible(page)
  await page.getByRole('button', { name: t('compare.set.paste') }).click()
  await expect(questionBox(page)).toBeFocused()
  await page.keyboard.insertText(many.slice(0, 40).join('\n'))
  await page.keyboard.press('Enter')
  await expect(page.getByText(t('compare.list.progress', { done: 40, all: 40 }))).toBeVisible()
  await expect(page.getByText(t('compare.set.missing'), { exact: true })).toHaveCount(0)
  await expect(questionBox(page)).toBeFocused()
})

inBothLanguages('questions for which the browser has no room are refused, not lost', async (page, t) => {
  await page.goto(keywords)
  await page.evaluate(() => {
    for (let size = 4 << 20; size >= 1 << 10; size /= 2) {
      for (let i = 0; ; i++) {
        try {
          localStorage.setItem(`full.${size}.${i}`, 'x'.repeat(size))
        } catch {
          break
        }
      }
    }
  })
  await questionBox(page).fill(many.join('\n'))
  await page.getByRole('button', { name: t('compare.go'), exact: true }).click()
  await expect(page.getByText(t('compare.set.full'), { exact: true })).toBeVisible()
  await expect(questionBox(page)).toHaveValue(many.join('\n'))
  await accessible(page)
})

test('a changed column asks once more, one removed or moved asks nothing, leaving ends it', async ({ page }) => {
  await page.clock.install()
  const asked = counted(page)
  test.setTimeout(300_000)
  const few = many.slice(0, 8)
  const all = () => expect(page.getByText('8 of 8 compared')).toBeVisible({ timeout: 120_000 })
  await page.goto(`/compare?kb=docs&col=text~~&col=script_score~1~&col=linear~1~&q=${encodeURIComponent(few.join('\n'))}`)
  await all()
  expect(asked).toHaveLength(8)
  const third = page.locator('.side').nth(2)
  const thirdHits = await third.locator('.compared h3').allTextContents()
  await page.getByRole('button', { name: 'Remove column 2' }).click()
  await expect(page.locator('.side')).toHaveCount(2)
  await all()
  expect(await page.locator('.side').nth(1).locator('.compared h3').allTextContents()).toEqual(thirdHits)
  await page.getByRole('button', { name: 'Move column 2 to the left' }).click()
  await expect(page.locator('.side').first().locator('h2')).toContainText('linear')
  await all()
  await ahead(page)
  expect(asked).toHaveLength(8)

  const preset = page.getByRole('combobox', { name: 'Preset of column 1' })
  const share = page.getByRole('combobox', { name: 'Keyword share of column 1' })
  await preset.selectOption('technical')
  await expect.poll(() => asked.length).toBe(16)
  await all()
  await preset.selectOption('linear')
  await all()
  await ahead(page)
  expect(asked).toHaveLength(16)

  await page.route('**/v1/compare', async (route) => {
    await new Promise((done) => setTimeout(done, 200))
    await route.continue().catch(() => undefined)
  })
  await share.selectOption('0.5')
  await expect.poll(() => asked.length).toBeGreaterThan(17)
  await share.selectOption('0.4') // the rest of those before is not asked
  await all()
  expect(asked.length).toBeLessThan(32)
  const before = asked.length
  await share.selectOption('0.6')
  await expect.poll(() => asked.length).toBeGreaterThan(before)
  await page.getByRole('navigation').getByRole('link', { name: 'Synonyms' }).click()
  await expect(page.getByRole('heading', { name: 'Synonyms' })).toBeVisible()
  const then = asked.length
  await ahead(page)
  expect(asked.length).toBe(then)
  expect(then).toBeLessThan(before + 8)
})

test('a run is paused and goes on; a gateway that fails ends it and is asked again', async ({ page }) => {
  await page.clock.install()
  const asked = counted(page)
  let fails = false
  let letGo = () => {}
  const paused = new Promise<void>((resolve) => (letGo = resolve))
  await page.route('**/v1/compare', async (route) => {
    if (asked.length > 2) await paused // however busy the machine is, it is paused before the run ends
    if (fails) await route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"code":"unavailable","detail":"the engine is away"}' })
    else await route.continue().catch(() => undefined)
  })
  await page.goto(`${keywords}&q=${encodeURIComponent(many.slice(0, 15).join('\n'))}`)
  await expect.poll(() => asked.length).toBeGreaterThan(2)
  await page.getByRole('button', { name: 'Pause' }).click()
  letGo()
  await atRest() // what was asked for before is answered
  const then = asked.length
  await ahead(page)
  expect(asked.length).toBe(then)
  await page.locator('.question-list').getByRole('button', { name: many[14] }).click()
  await expect(page.locator('.asked')).toHaveText(many[14]!)
  await expect(page.locator('.side')).toHaveCount(2)
  fails = true
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByText('the engine is away')).toBeVisible()
  await ahead(page)
  expect(asked.length).toBe(then + 2)
  fails = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByText('15 of 15 compared')).toBeVisible()
  await expect(page.getByText('the engine is away')).toHaveCount(0)
})

const six = 'col=~~&col=text~~&col=vector~~&col=rrf~0.3~&col=linear~~&col=script_score~~'

inBothLanguages('six columns are readable on a wide screen, and one after the other on a narrow one', async (page) => {
  test.setTimeout(300_000)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(`/compare?kb=docs&q=${encodeURIComponent('how are scores fused')}&${six}`)
  await expect(page.locator('.side').last().locator('.compared')).toHaveCount(10)
  await whole(page)
  const board = page.locator('.board')
  expect(await board.evaluate((b) => b.scrollWidth - b.clientWidth)).toBeLessThanOrEqual(0) // all six are in sight
  await accessible(page)

  await page.setViewportSize({ width: 375, height: 812 })
  await whole(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375)
  await board.evaluate((b) => b.scrollTo({ left: b.querySelectorAll<HTMLElement>('.side')[2]!.offsetLeft + 20 }))
  const place = () => board.evaluate((b) => Math.round(b.querySelectorAll('.side')[2]!.getBoundingClientRect().left - b.getBoundingClientRect().left))
  await expect.poll(place).toBe(28) // with the lines to its left
  await accessible(page)
})

inBothLanguages('a card is graded by keyboard, of two columns on a narrow screen', async (page, t) => {
  await page.setViewportSize({ width: 375, height: 812 })
  await page.goto(`/compare?kb=docs&q=${encodeURIComponent('how are scores fused')}&col=text~~&col=vector~~`)
  await expect(page.locator('.compared')).toHaveCount(20)
  await whole(page)
  await accessible(page)
  const grade = page.locator('.compared').last().getByRole('button', { name: t('compare.bad') })
  await page.locator('.compared').last().getByRole('button', { name: t('compare.fair') }).focus()
  await page.keyboard.press('Tab')
  await expect(grade).toBeFocused()
  expect(await grade.evaluate((g) => getComputedStyle(g).outlineStyle)).toBe('solid')
  await expect(grade).toBeInViewport({ ratio: 0.9 })
  await page.keyboard.press('Space')
  await expect(grade).toHaveAttribute('aria-pressed', 'true')
})

/** No card has a line that breaks or leaves it. */
async function whole(page: Page) {
  const broken = await page.locator('.compared').evaluateAll((cards) => cards.flatMap((card) => {
    const box = card.getBoundingClientRect()
    const parts = [...card.querySelectorAll('.rank, .move, .tag, .grade, h3 > .clip')].map((part) => ({ part, at: part.getBoundingClientRect() }))
    return parts.filter(({ at }) => at.height > 30 || at.right > box.right || at.bottom > box.bottom || at.width < 8)
      .map(({ part, at }) => `${part.className} ${part.textContent} ${Math.round(at.width)}x${Math.round(at.height)}`)
  }))
  expect(broken).toEqual([])
}

inBothLanguages('lines and arrows tell of a column and its left neighbour', async (page, t) => {
  const answered = page.waitForResponse('**/v1/compare')
  await page.goto(`/compare?kb=docs&q=${encodeURIComponent('how are scores fused')}&col=vector~~&col=text~~&col=~~`)
  const { moves, columns } = (await (await answered).json()) as {
    moves: { id: string; ranks: (number | null)[]; unique: boolean }[]
    columns: { response: { hits: { id: string }[] } }[]
  }
  await expect(page.getByText(t('compare.legend'))).toBeVisible()
  for (const column of [1, 2]) {
    const told = columns[column]!.response.hits.map(({ id }, i) => {
      const { ranks, unique } = moves.find((m) => m.id === id)!
      const left = ranks[column - 1]
      if (unique) return t('compare.unique')
      if (!left) return t('compare.new', { column })
      const won = left - i - 1
      return t(won > 0 ? 'compare.up' : won < 0 ? 'compare.down' : 'compare.same', { n: Math.abs(won), column })
    })
    const side = page.locator('.side').nth(column)
    await expect(side.locator('.foot > :first-child')).toHaveCount(told.length)
    const shown = side.locator('.foot').locator('.move .visually-hidden, .tag')
    expect(await shown.allTextContents()).toEqual(told)
    expect(await side.locator('.lines path').count()).toBe(moves.filter((m) => m.ranks[column - 1] && m.ranks[column]).length)
  }
  await expect(page.locator('.side').first().locator('.move')).toHaveCount(0)
})

inBothLanguages('pairs of columns are told apart', async (page, t) => {
  await page.goto('/compare?kb=docs&q=fusion&col=rrf~~&col=rrf~~&col=rrf~0.3~&col=text~0.3~docs~')
  const pairs = page.locator('.agreement tbody th')
  await expect(pairs).toHaveCount(6)
  const share = t('compare.weight.share', { percent: '30 %' })
  const and = t('compare.and')
  await expect(pairs.nth(0)).toHaveText(`1 rrf ${and} 2 rrf`)
  await expect(pairs.nth(1)).toHaveText(`1 rrf ${and} 3 rrf · ${share}`)
  await expect(pairs.nth(2)).toHaveText(new RegExp(`^1 rrf ${and} 4 text · \\S.*$`)) // where it searches; keywords alone have no share
  await expect(pairs.nth(2)).not.toContainText(share)
  const csv = await saved(page, () => page.getByRole('button', { name: 'CSV' }).click())
  expect(new Set(csv.trim().split('\r\n').slice(1).map((line) => line.split(',')[1])).size).toBe(4)
})

inBothLanguages('judgements of this browser are kept in the gateway, which measures by them', async (page, t, language) => {
  await page.goto(`/compare?kb=docs&q=${encodeURIComponent(`how are scores fused ${language}`)}&col=text~~&col=text~0~`)
  const cards = page.locator('.side').first().locator('.compared')
  await cards.nth(0).getByRole('button', { name: t('compare.good') }).click()
  await cards.nth(1).getByRole('button', { name: t('compare.bad') }).click()
  const keep = page.getByRole('button', { name: t('compare.judged.keep') })
  await keep.click()
  await expect(page.getByText(t('compare.judged.kept', { count: 2, set: 'judged-docs' }))).toBeVisible()
  await keep.click() // again is no more
  await accessible(page)
  const { judgments } = JSON.parse(await ask('GET', '/v1/judgments/judged-docs/judgments')) as { judgments: { grade: number; hash: string }[] }
  expect(judgments.map((j) => j.grade).filter((grade) => grade === 2).length).toBe(judgments.length / 2)
  expect(judgments.every((j) => j.hash.length > 0)).toBe(true)
  const asked = { query_set: 'judged-docs', judgments: 'judged-docs', systems: [{ name: 'text', request: { preset: 'text' } }], metrics: ['hit@1'] }
  const { id } = JSON.parse(await ask('POST', '/v1/evaluations', JSON.stringify(asked))) as { id: string }
  await expect.poll(async () => (JSON.parse(await ask('GET', `/v1/evaluations/${id}`)) as { state: string }).state).toBe('done')
})

inBothLanguages('judgements are forgotten when that is confirmed, and brought back', async (page, t) => {
  await page.goto(`/compare?kb=docs&q=${encodeURIComponent('how are scores fused')}&col=text~~&col=text~0~`)
  const cards = page.locator('.side').first().locator('.compared')
  for (const [i, grade] of (['compare.good', 'compare.bad', 'compare.fair'] as const).entries()) {
    await cards.nth(i).getByRole('button', { name: t(grade) }).click()
  }
  const three = page.getByText(t('compare.judged', { count: 3 }), { exact: true })
  const clear = page.getByRole('button', { name: t('compare.judged.clear') })
  const dialog = page.getByRole('dialog')
  await clear.click()
  await expect(dialog).toContainText(t('compare.judged.clear.about', { count: 3 }))
  await accessible(page)
  await dialog.getByRole('button', { name: t('app.cancel') }).click()
  await expect(dialog).toHaveCount(0)
  await expect(three).toBeVisible()

  await clear.click()
  await dialog.getByRole('button', { name: t('compare.judged.clear') }).click()
  await expect(dialog).toHaveCount(0)
  await expect(three).toHaveCount(0)
  await expect(page.locator('.grade[aria-pressed="true"]')).toHaveCount(0)
  await expect(page.getByText(t('compare.judged.forgotten', { count: 3 }))).toBeVisible()
  await accessible(page)
  const undo = page.getByRole('button', { name: t('compare.judged.undo') })
  await expect(undo).toBeFocused()
  await cards.nth(1).getByRole('button', { name: t('compare.good') }).click() // judged since, so it stays
  await undo.click()
  await expect(three).toBeVisible()
  await expect(cards.nth(0).getByRole('button', { name: t('compare.good') })).toHaveAttribute('aria-pressed', 'true')
  await expect(cards.nth(1).getByRole('button', { name: t('compare.good') })).toHaveAttribute('aria-pressed', 'true')
  await expect(undo).toHaveCount(0)
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
async function saved(page: Page, act: () => Promise<void>): Promise<string> {
  const download = page.waitForEvent('download')
  await act()
  return (await readFile(await (await download).path(), 'utf8')).replace(/^\uFEFF/, '')
}
