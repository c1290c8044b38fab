import type { Locator, Page } from '@playwright/test'
import type { SearchRequest, SearchAnswer } from '../src/api/schema'
import { accessible, ahead, ask, drop, expect, fill, inBothLanguages, questionOf, test, text } from './fixture'
import { apart, contrast } from './colours'

const percent = (share: number) => `${Math.round(share * 100)} %`

const answered = async (body: object) =>
  JSON.parse(await ask('POST', '/v1/search', JSON.stringify({ explain: true, ...body }))) as SearchAnswer

/** Counts what is asked of the gateway. */
function searches(page: Page) {
  const seen = { count: 0 }
  page.on('request', (r) => { if (r.url().endsWith('/v1/search')) seen.count++ })
  return seen
}

inBothLanguages('no knowledge base chosen asks for one and searches nothing', async (page, t) => {
  await fill('one-more', { dimensions: 0 }, [{ id: 'a', document_id: 'd', content: 'a refund' }])
  await page.clock.install()
  await page.goto('/?q=refund')
  const boxes = page.getByRole('group', { name: t('search.bases') }).getByRole('checkbox')
  await expect(page.locator('.hit').first()).toBeVisible()
  const all = await boxes.count()
  expect(all).toBeGreaterThan(1)
  for (let i = 0; i < all; i++) await boxes.nth(i).uncheck()
  const heading = page.getByRole('heading', { name: t('search.bases.none') })
  await expect(heading).toBeVisible()
  const asked = searches(page)
  await page.reload()
  await expect(heading).toBeVisible()
  for (let i = 0; i < all; i++) await expect(boxes.nth(i)).not.toBeChecked()
  await expect(page.locator('.hit')).toHaveCount(0)
  await ahead(page)
  expect(asked.count).toBe(0)
  await accessible(page)
  for (let i = 0; i < all; i++) await boxes.nth(i).check()
  await expect(page).not.toHaveURL(/kb=/)
  await expect(page.locator('.hit').first()).toBeVisible()
  await boxes.first().uncheck()
  for (let i = 1; i < all; i++) await boxes.nth(i).uncheck()
  await page.getByRole('button', { name: t('search.bases.all') }).click()
  await expect(page).not.toHaveURL(/kb=/)
  await drop('one-more')
})

inBothLanguages('a page behind the last leads to the last', async (page, t) => {
  await page.goto('/?kb=docs&q=engine&page=40')
  await expect(page.getByRole('heading', { name: t('search.beyond', { page: 40 }) })).toBeVisible()
  await expect(page.getByRole('heading', { name: t('search.empty') })).toHaveCount(0)
  await page.getByRole('button', { name: t('search.beyond.go', { pages: 5 }) }).click()
  await expect(page).toHaveURL(/page=5/)
  await expect(page.locator('.place').first()).toHaveText('41')
  await expect(page.locator('.pager')).toContainText(t('search.page.of', { page: 5, pages: 5 }))
})

inBothLanguages('files of the same name are told by their folders', async (page) => {
  await fill('folders', { dimensions: 0 }, [
    { id: 'a', document_id: 'en/guide.md', document_name: 'guide.md', content: 'a refund' },
    { id: 'b', document_id: 'zh/guide.md', document_name: 'guide.md', content: 'a refund, later' },
  ])
  await page.goto('/?kb=folders&q=refund')
  await expect(page.locator('.hit .source')).toContainText(['en/guide.md', 'zh/guide.md'])
  await expect(page.getByRole('checkbox', { name: 'en/guide.md' })).toBeVisible()
  await expect(page.getByRole('checkbox', { name: 'zh/guide.md' })).toBeVisible()
  await drop('folders')
})

inBothLanguages('a document that filters has its name', async (page, t) => {
  await fill('named', { dimensions: 0 }, [
    { id: 'a', document_id: 'doc-17', document_name: 'Returns policy.md', content: 'a refund' },
    { id: 'b', document_id: 'doc-18', document_name: 'Other.md', content: 'a refund' },
  ])
  await page.goto('/?kb=named&q=refund&doc=doc-17')
  const chip = page.getByRole('button', { name: t('search.filters.remove', { name: 'Returns policy.md' }) })
  await expect(chip).toHaveText('Returns policy.md')
  await questionOf(page).fill('zzzqqq')
  await questionOf(page).press('Enter')
  await expect(page.getByRole('heading', { name: t('search.empty') })).toBeVisible()
  await expect(chip).toBeVisible() // though no hit says it
  await chip.click()
  await expect(page).not.toHaveURL(/doc=/)
  await drop('named')
})

inBothLanguages('the legs of pairs have names, and colours that all can tell apart', async (page, t) => {
  await fill('pairs', { kind: 'qa' }, [
    { id: 'a', document_id: 'd', question: 'How long does a refund take?', answer: 'A refund takes five days.' },
    { id: 'b', document_id: 'd', question: 'Where is my order?', answer: 'Look at your orders; a refund shows there too.' },
  ])
  await page.goto('/?kb=pairs&preset=qa_balanced&q=how+long+does+a+refund+take')
  const legs = ['question', 'answer', 'question_vector', 'answer_vector'] as const
  const legend = page.getByRole('list', { name: t('hit.legend') })
  for (const leg of legs) await expect(legend.getByText(t(`hit.leg.${leg}`), { exact: true })).toBeVisible()
  await page.locator('.why').first().click()
  await expect(page.getByRole('table').last()).toContainText(t('hit.leg.answer_vector'))
  await expect(page.locator('main')).not.toContainText('_vector')
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    const colours = await coloursOf(legend.locator('.dot'))
    const [panel = ''] = await coloursOf(page.locator('.explanation'))
    expect(colours).toHaveLength(4)
    for (const [i, colour] of colours.entries()) {
      expect(contrast(colour, panel), `${theme}: ${colour} on ${panel}`).toBeGreaterThanOrEqual(3)
      for (const other of colours.slice(i + 1)) expect(apart(colour, other), `${theme}: ${colour} and ${other}`).toBeGreaterThan(0.1)
    }
    expect(new Set(await coloursOf(page.locator('.hit .scorebar').first().locator('.filled > span')))).toEqual(new Set(colours))
    await accessible(page)
  }
  await drop('pairs')
})

const coloursOf = (elements: Locator) => elements.evaluateAll((all) => all.map((e) => getComputedStyle(e).backgroundColor))

inBothLanguages('a long text can be scrolled by keyboard on a small screen', async (page, t) => {
  await fill('long', { dimensions: 0 }, [{ id: 'a', document_id: 'd', content: 'A refund takes five days.\n'.repeat(80) }])
  await page.setViewportSize({ width: 375, height: 812 })
  await page.goto('/?kb=long&q=refund')
  await page.locator('.why').first().click()
  const text = page.getByRole('region', { name: t('hit.content') })
  await text.focus()
  await expect(text).toBeFocused()
  await page.keyboard.press('End')
  await expect.poll(() => text.evaluate((e) => e.scrollTop)).toBeGreaterThan(0)
  await accessible(page)
  await drop('long')
})

inBothLanguages('the slider shows no weight that is not in force', async (page, t) => {
  await page.goto('/?kb=docs')
  const slider = page.getByRole('slider', { name: t('search.weight') })
  const panel = page.locator('.balance')
  await expect(slider).toHaveAttribute('aria-valuetext', t('search.weight.unknown'))
  await expect(panel).not.toContainText('%')
  const q = 'wie lange dauert das engine refund'
  const answer = await answered({ query: q, knowledge_bases: ['docs'] })
  await questionOf(page).fill(q)
  await questionOf(page).press('Enter')
  await expect(slider).toHaveAttribute('aria-valuetext', weights(t, 0.2)) // as the preset plans
  const known = answer.explain?.known ?? 1
  expect(known).toBeLessThan(1)
  await expect(panel).toContainText(t('search.weight.adapts.known', { percent: percent(known) }))
  const text = answer.hits?.[0]?.legs?.find((l) => l.leg === 'text')?.weight ?? 0
  expect(percent(text)).not.toBe(percent(0.2))
  await expect(panel).toContainText(t('search.weight.force', { weights: weights(t, text) }))
  await page.getByRole('combobox', { name: t('search.preset') }).selectOption('rrf')
  await expect(slider).toHaveAttribute('aria-valuetext', weights(t, 0.4)) // whatever the question is
  await expect(page.locator('#balance-about')).toBeEmpty()
  await accessible(page)
})

type Text = Parameters<Parameters<typeof inBothLanguages>[1]>[1]

const weights = (t: Text, text: number) => t('search.weight.value', { text: percent(text), vector: percent(1 - text) })

inBothLanguages('weights that differ by knowledge base are told for each', async (page, t) => {
  await fill('knows', { name: 'Knows it' }, [{ id: 'a', document_id: 'd', content: 'Every refund takes five days.' }])
  await fill('strange', { name: 'Strange', bm25: 'okapi' }, [{ id: 'a', document_id: 'd', content: '退款需要五天。' }])
  await page.goto('/?kb=knows&kb=strange&q=refund')
  const panel = page.locator('.balance')
  await expect(panel).toContainText(t('search.weight.differ')) // of another formula, so not scored as one
  await expect(panel.getByRole('listitem')).toHaveCount(2)
  await expect(panel).toContainText(t('search.weight.of', { base: 'Strange', weights: weights(t, 0) }))
  await drop('knows')
  await drop('strange')
})

inBothLanguages('words alone leave nothing to balance', async (page, t) => {
  await fill('words', { dimensions: 0 }, [{ id: 'a', document_id: 'd', content: 'a refund' }])
  await page.goto('/?kb=words&q=refund')
  await expect(page.getByText(t('search.weight.only', { leg: t('hit.leg.text') }))).toBeVisible()
  await expect(page.getByRole('slider')).toHaveCount(0)
  await drop('words')
})

test('bars are as long as the score is beside the best', async ({ page }) => {
  await page.goto('/?kb=docs&preset=text&q=how+are+scores+fused')
  const hits = page.locator('.hit')
  await expect(hits).toHaveCount(10)
  const rows = await hits.evaluateAll((all) => all.map((hit) => ({
    score: Number(hit.querySelector('.score')?.lastChild?.textContent),
    share: (hit.querySelector('.filled')?.getBoundingClientRect().width ?? 0) / (hit.querySelector('.scorebar')?.getBoundingClientRect().width ?? 1),
  })))
  const best = rows[0]?.score ?? 0
  expect(best).toBeLessThan(0.9) // the number stays the score
  for (const { score, share } of rows) expect(Math.abs(share - score / best)).toBeLessThan(0.02)
  await page.getByRole('button', { name: text('en', 'search.page.next') }).click()
  await expect(page.locator('.place').first()).toHaveText('11')
  const second = await page.locator('.filled').first().evaluate((e) => e.getBoundingClientRect().width / (e.parentElement?.getBoundingClientRect().width ?? 1))
  expect(second).toBeLessThan(0.98) // the best of the answer, not of the page
})

inBothLanguages('where the time went is one bar, and numbers on demand', async (page, t) => {
  await page.route('**/v1/search', async (route) => {
    const real = await route.fetch()
    const answer = await real.json() as SearchAnswer
    const timings = { analyze: 0.1, embed: 5, legs: { text: 1, vector: 2 }, fuse: 0.4, highlight: 0.5 }
    await route.fulfill({ response: real, json: { ...answer, took_ms: 10, timings_ms: timings } })
  })
  await page.goto('/?kb=docs&q=engine')
  const box = page.locator('.timings')
  const bar = box.getByRole('img', { name: t('search.timings') })
  await expect(box.locator('summary')).toContainText(t('search.took', { ms: 10 }))
  for (const [step, took] of [['embed', '5.0'], ['legs', '2.0'], ['fuse', '0.4']] as const) {
    await expect(bar).toHaveAccessibleName(new RegExp(`${t(`search.timing.${step}`)} ${took}`.replace(/[().]/g, '\\$&')))
  }
  const shares = await bar.locator('span').evaluateAll((all) => all.map((e) => e.getBoundingClientRect().width / (e.parentElement?.getBoundingClientRect().width ?? 1)))
  for (const [i, share] of [0.01, 0.5, 0.2, 0.04, 0.05].entries()) expect(Math.abs((shares[i] ?? 0) - share)).toBeLessThan(0.02)
  await expect(box.getByRole('table')).toBeHidden()
  await box.locator('summary').press('Enter')
  await expect(box.getByRole('row', { name: t('search.timing.embed') })).toContainText('50 %')
  await expect(box.getByRole('row', { name: t('hit.leg.text') })).toContainText(t('search.ms', { ms: '1.0' }))
  await expect(box.getByRole('row', { name: t('search.timing.rest') })).toContainText('20 %')
  await accessible(page)
})

test('fragments of Markdown are read as text', async ({ page }) => {
  const table = '## Refund fees\n\n| kind | **fee** |\n|---|---|\n| refund | [none](https://a.example/fees) |\n| <b>move</b> | `5 EUR` |\n'
  const list = '- a **refund** is free\n- a move\n  costs 5 EUR\n'
  await fill('markdown', { dimensions: 0 }, [
    { id: 'table', document_id: 'd', document_name: 'table.md', content: table },
    { id: 'list', document_id: 'e', document_name: 'list.md', content: list },
  ])
  await page.goto('/?kb=markdown&q=refund')
  const snippets = page.locator('.hit', { hasText: 'table.md' }).locator('.snippets')
  await expect(snippets).toHaveText('Refund fees\nkind · fee\nrefund · none\n<b>move</b> · 5 EUR', { useInnerText: true })
  await expect(snippets.locator('mark')).toHaveText(['Refund', 'refund'])
  await expect(page.locator('.hit', { hasText: 'list.md' }).locator('.snippets'))
    .toHaveText('• a refund is free\n• a move costs 5 EUR', { useInnerText: true })
  await page.locator('.hit', { hasText: 'table.md' }).locator('.why').click()
  await expect(page.locator('.fulltext')).toContainText('|---|---|') // the whole text as it is
  await page.goto('/compare?kb=markdown&q=refund&col=text~~&col=balanced~~')
  await expect(page.locator('.excerpt', { hasText: 'kind' }).first()).toContainText('kind · fee')
  await page.goto('/knowledge-bases?documents=markdown')
  await page.getByRole('dialog').getByText('list.md').click()
  await expect(page.locator('.chunks .text')).toHaveText('• a refund is free\n• a move costs 5 EUR', { useInnerText: true })
  await drop('markdown')
})

test('words of the question are marked in titles and in questions of pairs', async ({ page }) => {
  await fill('titles', { dimensions: 0 }, [
    { id: 'a', document_id: 'd', title: 'Refunds & <b>fees</b> of #1 *goods*', content: 'A refund is free.' },
    { id: 'b', document_id: 'e', title: 'Moves', content: 'A refund of the fare.' },
  ])
  await fill('pairs', { kind: 'qa', dimensions: 0 }, [
    { id: 'p', document_id: 'faq', title: 'Money', question: 'How do I get the refund?', answer: 'Ask for it.' },
  ])
  const names = page.locator('.hit h3')
  const marks = names.locator('mark')
  await page.goto('/?kb=titles&preset=text&q=how+do+i+get+the+refund')
  await expect(names).toHaveText(['Refunds & <b>fees</b> of #1 *goods*', 'Moves'])
  await expect(marks).toHaveText(['Refunds'])
  await page.goto('/?kb=pairs&q=how+do+i+get+the+refund')
  await expect(names).toHaveText('How do I get the refund?')
  await expect(marks).toHaveText(['refund'])
  await page.goto('/compare?kb=titles&q=refund&col=text~~&col=balanced~~')
  await expect(page.locator('.compared h3 mark').first()).toHaveText('Refunds')
  await drop('titles')
  await drop('pairs')
})

test('a hit that no word is in gets its nearest sentence once the answer is shown', async ({ page }) => {
  await fill('far', {}, [
    { id: 'a', document_id: 'd', content: 'The market opens at nine. Money is paid back within three days. Dogs stay outside.' },
    { id: 'b', document_id: 'e', content: '申请退款请点击按钮。' },
  ])
  let answered = () => {}
  const shown = new Promise<void>((resolve) => { answered = resolve })
  await page.route('**/v1/search', async (route) => {
    const asked = route.request().postDataJSON() as SearchRequest
    const real = await route.fetch()
    if (!asked.highlight?.nearest) return route.fulfill({ response: real })
    await shown
    const answer = await real.json() as SearchAnswer
    const hits = answer.hits?.map((hit) => ({ ...hit, highlights: ['Money is &lt;paid&gt; back.'] }))
    const degraded = [{ leg: 'highlight', code: 'timeout', reason: 'there was no time' }]
    return route.fulfill({ response: real, json: { ...answer, hits, degraded } })
  })
  await page.goto('/?kb=far&q=退款')
  const far = page.locator('.hit', { hasText: 'd' }).filter({ hasNot: page.locator('mark') }).locator('.snippets')
  await expect(far).toContainText('The market opens at nine.')
  answered()
  await expect(far).toHaveText('Money is <paid> back.')
  await expect(page.locator('.snippets mark')).toHaveText(['退款']) // what has a mark keeps its fragments
  await expect(page.locator('.notice')).toHaveCount(0)
  await drop('far')
})
