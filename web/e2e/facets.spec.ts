import type { Page } from '@playwright/test'
import { accessible, drop, expect, fill, inBothLanguages } from './fixture'

// c0 to c7 with 8, 7, … 1 notes, in three documents of 12 notes each.
const notes = Array.from({ length: 8 }, (_, c) => Array.from({ length: 8 - c }, (_, i) => ({ c, i }))).flat().map(({ c, i }, at) => ({
  id: `n${at}`, document_id: `d${at % 3}`, document_name: `notes-${at % 3}.md`, content: `refund note ${at}`,
  metadata: { category: `c${c}`, year: i % 2 === 0 ? 2025 : 2026, draft: c === 7 },
}))

const documents = (page: Page) => page.locator('.settings section > .counts')
const facet = (page: Page, field: string) => page.locator('.facet').filter({ has: page.getByRole('heading', { name: field }) })

/** The values and counts on show, as "c0 8". */
const counts = (list: ReturnType<Page['locator']>) => () =>
  list.locator('label').evaluateAll((labels) => labels.map((l) => `${l.querySelector('.clip')?.textContent} ${l.querySelector('.end')?.textContent}`))

async function total(page: Page, expected: number) {
  await page.waitForFunction((n) => document.querySelectorAll('.hit').length === n, expected)
}

inBothLanguages('a chosen value leaves the others their counts', async (page) => {
  await fill('disjunctive', { dimensions: 0 }, notes)
  await page.goto('/?kb=disjunctive&q=refund&per=100&facet=category&facet=year')
  const [categories, years] = [facet(page, 'category'), facet(page, 'year')]
  const all = ['c0 8', 'c1 7', 'c2 6', 'c3 5', 'c4 4', 'c5 3']
  await expect.poll(counts(categories)).toEqual(all)
  await expect.poll(counts(years)).toEqual(['2025 20', '2026 16'])
  await categories.getByRole('checkbox', { name: /c4/ }).check()
  await total(page, 4)
  expect(await counts(categories)()).toEqual(all) // nothing moved
  expect(await counts(years)()).toEqual(['2025 2', '2026 2'])
  await categories.getByRole('checkbox', { name: /c1/ }).check()
  await total(page, 11)
  expect(await counts(categories)()).toEqual(all)
  await years.getByRole('checkbox', { name: /2026/ }).check() // a number
  await total(page, 5)
  expect(await counts(years)()).toEqual(['2025 6', '2026 5'])
  expect(await counts(categories)()).toEqual(['c0 4', 'c1 3', 'c2 3', 'c3 2', 'c4 2', 'c5 1'])
  await accessible(page)
  await page.reload()
  await total(page, 5)
  await expect(page.getByRole('checkbox', { checked: true })).toHaveCount(3 + (await page.locator('.settings fieldset input:checked').count()))
  await drop('disjunctive')
})

inBothLanguages('a chosen document leaves the others theirs', async (page) => {
  await fill('disjunctive', { dimensions: 0 }, notes)
  await page.goto('/?kb=disjunctive&q=refund&per=100&facet=category')
  const all = ['notes-0.md 12', 'notes-1.md 12', 'notes-2.md 12']
  await expect.poll(async () => (await counts(documents(page))()).sort()).toEqual(all)
  const before = await counts(documents(page))()
  await documents(page).getByRole('checkbox', { name: /notes-1/ }).check()
  await total(page, 12)
  expect(await counts(documents(page))()).toEqual(before)
  await documents(page).getByRole('checkbox', { name: /notes-2/ }).check()
  await total(page, 24)
  expect(await counts(documents(page))()).toEqual(before)
  await drop('disjunctive')
})

inBothLanguages('a chosen value stays on show though nothing is left of it', async (page, t) => {
  await fill('disjunctive', { dimensions: 0 }, notes)
  await page.goto('/?kb=disjunctive&q=refund&per=100&facet=category&f.category=c7&f.draft=true')
  const [categories, drafts] = [facet(page, 'category'), facet(page, 'draft')]
  await total(page, 1) // by a boolean
  expect(await counts(categories)()).toEqual(['c7 1'])
  await page.goto('/?kb=disjunctive&q=refund&per=100&facet=category&f.category=c7')
  await expect.poll(counts(categories)).toEqual(['c0 8', 'c1 7', 'c2 6', 'c3 5', 'c4 4', 'c5 3', 'c7 1'])
  await page.goto('/?kb=disjunctive&q=refund&facet=category&f.category=c7&facet=draft&f.draft=false&doc=gone')
  await expect(page.getByRole('heading', { name: t('search.empty') })).toBeVisible()
  expect(await counts(categories)()).toEqual(['c7 0'])
  expect(await counts(drafts)()).toEqual(['false 0'])
  expect(await counts(documents(page))()).toEqual(['gone 0'])
  await categories.getByRole('checkbox').click()
  await expect(page).not.toHaveURL(/f\.category/)
  await expect(page.getByRole('checkbox', { name: /c7/ })).toHaveCount(0)
  await drop('disjunctive')
})
