import type { Page } from '@playwright/test'
import { accessible, ahead, ask, drop, expect, fill, inBothLanguages, questionOf, test } from './fixture'

inBothLanguages('a question is answered, explained and kept in the address', async (page, t) => {
  await page.clock.install()
  await page.goto('/')
  await expect(page.getByRole('heading', { name: t('search.start') })).toBeVisible()
  await questionOf(page).fill('如何调整关键词和向量的权重')
  await ahead(page)
  expect(page.url()).not.toContain('q=') // only Enter searches
  await questionOf(page).press('Enter')
  const hits = page.locator('.hit')
  await expect(hits).toHaveCount(10)
  await expect(hits.first()).toContainText('zh/presets.md') // of all pages of the demo
  await expect(hits.first().locator('mark').first()).toBeVisible()
  await expect(page.locator('.timings')).toContainText(t('search.timing.embed'))
  await hits.first().getByRole('button', { name: t('hit.why') }).click()
  const table = hits.first().getByRole('table')
  await expect(table).toContainText(t('hit.contribution'))
  await expect(table.getByRole('row')).toHaveCount(4) // head, two legs, sum
  await expect(hits.first().locator('.terms')).toContainText('权重')
  const before = await hits.locator('h3').allTextContents()
  await page.reload()
  await expect(hits).toHaveCount(10)
  expect(await hits.locator('h3').allTextContents()).toEqual(before)
})

test('a question finds what answers it in the other language, among all pages of the demo and by vectors alone', async () => {
  for (const [query, language, wanted] of [
    ['怎样用环境变量保存 Elasticsearch 密码', 'en', 'en/elasticsearch.md'],
    ['user dictionary for product names', 'zh', 'zh/chinese.md'],
    ['moving the data to another computer', 'zh', 'zh/backup.md'],
  ] as const) {
    const body = { query, knowledge_bases: ['docs'], preset: 'vector', filter: { document_id: { starts_with: `${language}/` } } }
    const answer = JSON.parse(await ask('POST', '/v1/search', JSON.stringify(body))) as { hits: { document_id: string }[] }
    expect(answer.hits.map((h) => h.document_id)).toContain(wanted)
  }
})

inBothLanguages('what is typed goes on by titles and words, by keyboard and mouse', async (page) => {
  await page.goto('/')
  const options = page.getByRole('option')
  const offered = page.getByRole('listbox').getByRole('option')
  await questionOf(page).pressSequentially('synony')
  await expect(offered.filter({ hasText: 'synonyms' }).first()).toBeVisible()
  await accessible(page)
  await questionOf(page).press('ArrowDown')
  await expect(options.and(page.locator('[data-active-item]'))).toHaveCount(1)
  await questionOf(page).press('Escape')
  await expect(offered).toHaveCount(0)
  await expect(questionOf(page)).toHaveValue('synony') // Escape closes, and empties nothing
  await questionOf(page).press('m')
  await questionOf(page).fill('同义')
  const first = offered.first()
  await expect(first).toContainText('同义词')
  await questionOf(page).press('ArrowDown')
  await questionOf(page).press('Enter')
  await expect(page).toHaveURL(/q=%E5%90%8C%E4%B9%89%E8%AF%8D/)
  await expect(page.locator('.hit').first()).toBeVisible()
  await expect(offered).toHaveCount(0)
  await questionOf(page).fill('knowl')
  await offered.filter({ hasText: /^knowledge/ }).first().click()
  await expect(page).toHaveURL(/q=knowledge/)
})

inBothLanguages('a mistyped question is offered as it was meant', async (page, t) => {
  await page.goto('/?q=how+are+scroes+fused')
  await expect(page.locator('.meant')).toContainText(t('search.meant'))
  await page.locator('.meant').getByRole('button', { name: 'how are scores fused' }).click()
  await expect(page).toHaveURL(/q=how\+are\+scores\+fused/)
  await expect(questionOf(page)).toHaveValue('how are scores fused')
  await expect(page.locator('.meant')).toHaveCount(0)
})

inBothLanguages('the slider ranks again at once and by keyboard', async (page, t) => {
  await page.goto('/?q=knowledge+base+engine')
  const hits = page.locator('.hit')
  await expect(hits).toHaveCount(10)
  const slider = page.getByRole('slider', { name: t('search.weight') })
  await slider.press('End')
  await expect(page).toHaveURL(/w=1/)
  await expect(hits.first().locator('.shares')).toHaveText(t('hit.share', { leg: t('hit.leg.text'), percent: '100 %' }))
  await expect(slider).toHaveAttribute('aria-valuetext', t('search.weight.value', { text: '100 %', vector: '0 %' }))
  await slider.press('Home')
  await expect(hits.first().locator('.shares')).toHaveText(t('hit.share', { leg: t('hit.leg.vector'), percent: '100 %' }))
  await page.getByRole('button', { name: t('search.weight.reset') }).click()
  await expect(page).not.toHaveURL(/w=/)
})

inBothLanguages('presets, documents and pages change the answer and the address', async (page, t) => {
  await page.goto('/?q=knowledge+base+engine')
  const hits = page.locator('.hit')
  await page.getByRole('combobox', { name: t('search.preset') }).selectOption('rrf')
  await expect(page).toHaveURL(/preset=rrf/)
  await expect(page.locator('.head .tag').first()).toHaveText('rrf')
  const first = await hits.locator('h3').allTextContents()
  const seen = await watched(page)
  await page.getByRole('button', { name: t('search.page.next') }).click()
  await expect(page).toHaveURL(/page=2/)
  await expect(page.locator('.place').first()).toHaveText('11')
  const { least, top } = await seen()
  expect(least).toBeGreaterThan(0) // the list was never empty
  expect(top).toBeGreaterThanOrEqual(0) // and the new page shows from its beginning
  await page.goBack()
  await expect(page.locator('.place').first()).toHaveText('1')
  await expect.poll(() => hits.locator('h3').allTextContents()).toEqual(first)
  const document = page.locator('.counts input').first()
  await document.check()
  await expect(page).toHaveURL(/doc=/)
  await expect.poll(async () => new Set(await hits.locator('.source .linkish').allTextContents()).size).toBe(1)
  await page.getByRole('button', { name: t('search.filters.clear') }).click()
  await expect(page).not.toHaveURL(/doc=/)
})

/** Watches how few hits there are at any moment, and then where the list begins. */
async function watched(page: Page) {
  await page.evaluate(() => {
    const count = () => document.querySelectorAll('.hit').length
    const watch = Object.assign(window, { least: count() })
    new MutationObserver(() => { watch.least = Math.min(watch.least, count()) }).observe(document.body, { childList: true, subtree: true })
  })
  return () => page.evaluate(() => ({
    least: (window as unknown as { least: number }).least,
    top: Math.round(document.querySelector('.answer')?.getBoundingClientRect().top ?? -1),
  }))
}

inBothLanguages('fields are counted and filter', async (page, t) => {
  const chunks = Array.from({ length: 9 }, (_, i) => ({
    id: `c${i}`, document_id: `d${i}`, document_name: `note-${i}-of-a-name-that-is-wider-than-its-panel.md`, content: `refund note ${i}`,
    metadata: { category: i % 3 === 0 ? 'billing' : 'other' },
  }))
  await fill('facets', { dimensions: 0 }, chunks)
  await page.goto('/?kb=facets&q=refund')
  await page.getByRole('button', { name: 'category' }).click()
  await expect(page).toHaveURL(/facet=category/)
  expect(await page.locator('.settings').evaluate((panel) => panel.scrollWidth - panel.clientWidth)).toBe(0)
  const billing = page.getByRole('checkbox', { name: /billing/ })
  await billing.check()
  await expect(page).toHaveURL(/f\.category=billing/)
  await expect(page.locator('.hit')).toHaveCount(3)
  await page.getByRole('button', { name: t('search.filters.remove', { name: 'category: billing' }) }).click()
  await expect(page.locator('.hit')).toHaveCount(9)
  await drop('facets')
})

inBothLanguages('what went wrong is said with a way out', async (page, t) => {
  await page.goto('/?kb=docs&q=zzzqqq&preset=text')
  await expect(page.getByRole('heading', { name: t('search.empty') })).toBeVisible()
  await expect(page.getByText(t('search.empty.preset'))).toBeVisible()
  await page.goto('/?kb=docs&q=engine&preset=nonsense')
  await expect(page.getByRole('alert')).toContainText('nonsense')
  await page.route('**/v1/search', (route) => route.abort())
  await page.goto('/?kb=docs&q=engine')
  await expect(page.getByRole('alert')).toContainText(t('error.unreachable'))
  await page.unroute('**/v1/search')
  await page.getByRole('button', { name: t('app.retry') }).click()
  await expect(page.locator('.hit')).toHaveCount(10)
})

inBothLanguages('a leg that takes no part is told', async (page, t) => {
  await fill('short', { dimensions: 4 }, [{ id: 'a', document_id: 'd', content: 'a refund', vector: [1, 0, 0, 0] }])
  await page.goto('/?kb=short&q=refund')
  await expect(page.getByText(t('search.degraded'))).toBeVisible()
  await expect(page.locator('.notice')).toContainText(t('hit.leg.vector'))
  await accessible(page)
  await drop('short')
})

inBothLanguages('a script in a text and in a name stays text', async (page) => {
  const script = '<img src=x onerror=alert(1)><script>alert(2)</script>'
  await fill('xss', { name: script, dimensions: 0 }, [{
    id: 'a"><script>alert(3)</script>', document_id: script, document_name: script, title: `Title ${script}`,
    content: `wombat ${script} &lt;b&gt; \uE000not ours\uE001`, metadata: { [script]: script },
  }])
  await page.goto('/?kb=xss&q=wombat&facet=' + encodeURIComponent(script))
  const hit = page.locator('.hit')
  await expect(hit.locator('h3')).toHaveText(`Title ${script}`)
  await expect(hit.locator('.snippets')).toContainText(`${script} &lt;b&gt;`)
  await expect(hit.locator('mark').first()).toHaveText('wombat')
  await hit.locator('.why').click()
  await expect(hit.locator('.fulltext')).toContainText(script)
  expect(await page.locator('main script, main img').count()).toBe(0)
  await page.goto('/knowledge-bases')
  await expect(page.getByText(script).first()).toBeVisible()
  await drop('xss')
})

test('everything can be reached by keyboard alone', async ({ page }) => {
  await page.goto('/?q=engine')
  await expect(page.locator('.hit')).toHaveCount(10)
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  const reached = new Set<string>()
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab')
    reached.add(await page.evaluate(() => {
      const e = document.activeElement
      return e ? `${e.tagName}.${e.className}`.trim() : ''
    }))
  }
  for (const wanted of ['A.skip', 'INPUT.', 'SELECT.input', 'BUTTON.why', 'BUTTON.linkish']) {
    expect([...reached].some((r) => r.startsWith(wanted)), `${wanted} in ${[...reached].join(', ')}`).toBe(true)
  }
})

inBothLanguages('variety, recency and whole sections are chosen beside the preset and kept in the address', async (page, t, language) => {
  const id = `dated-${language}`
  const parts = ['A refund takes three days.', 'The refund goes to the card.', 'No refund without a receipt.', 'Parcels leave on Mondays.']
  await fill(id, { dimensions: 0 }, parts.map((content, i) => ({
    id: `c${i}`, document_id: 'd', document_name: 'rules.md', title: i < 3 ? 'Refunds' : 'Parcels', ordinal: i, content,
    metadata: { published: i === 2 ? '2026-11-01' : '2001-01-01' },
  })))
  await page.goto(`/?kb=${id}&q=refund&preset=linear`)
  const hits = page.locator('.hit')
  await expect(hits).toHaveCount(3)
  await page.getByText(t('search.more'), { exact: true }).click()
  await page.getByRole('combobox', { name: t('search.more.recent') }).selectOption('published')
  await expect(page).toHaveURL(/recent=published/)
  await expect(hits.first()).toContainText('receipt')
  await page.getByRole('combobox', { name: t('search.more.half.label') }).selectOption('30d')
  await expect(page).toHaveURL(/half=30d/)
  await page.getByRole('checkbox', { name: t('search.more.sections') }).check()
  await expect(hits).toHaveCount(1)
  await hits.first().locator('.section summary').click()
  await expect(hits.first().locator('.section')).toContainText('The refund goes to the card.')
  await accessible(page)
  await page.reload()
  await expect(hits).toHaveCount(1)
  await expect(page.getByRole('combobox', { name: t('search.more.recent') })).toHaveValue('published')
  await page.getByRole('combobox', { name: t('search.more.diversity') }).selectOption('0.3')
  await expect(page).toHaveURL(/diversity=0\.3/)
  await drop(id)
})

inBothLanguages('titles, popular chunks and those of a kind count more where asked for', async (page, t, language) => {
  const id = `counts-${language}`
  const texts = ['The refund needs a receipt.', 'A refund takes three days.', 'Ask for the refund at the counter.', 'The van brings it.']
  await fill(id, { dimensions: 0, fields: { title: 1 } }, texts.map((content, i) => ({
    id: `c${i}`, document_id: 'd', document_name: 'rules.md', title: i === 3 ? 'Refund' : 'Shop', ordinal: i, content,
    metadata: { votes: i === 1 ? 900 : 3, team: i === 2 ? 'red' : 'blue' },
  })))
  try {
    await page.goto(`/?kb=${id}&q=refund&preset=linear`)
    const hits = page.locator('.hit')
    await expect(hits).toHaveCount(4)
    await page.getByText(t('search.more'), { exact: true }).click()
    const boost = page.getByRole('combobox', { name: t('search.more.boost', { part: t('search.part.title') }) })
    await expect(page.getByRole('combobox', { name: t('search.more.boost', { part: t('search.part.questions') }) })).toHaveCount(0)
    await boost.selectOption('10')
    await expect(page).toHaveURL(/b\.title=10/)
    await expect(hits.first()).toContainText('The van brings it.')
    await boost.selectOption('')
    await page.getByRole('combobox', { name: t('search.more.popular') }).selectOption('votes')
    await expect(page).toHaveURL(/popular=votes&pivot=3/)
    await expect(hits.first()).toContainText('three days')
    await page.getByRole('combobox', { name: t('search.more.popular') }).selectOption('')
    await expect(page).not.toHaveURL(/pivot/)
    await page.getByRole('combobox', { name: t('search.more.favoured') }).selectOption('team=red')
    await expect(hits.first()).toContainText('at the counter')
    await accessible(page)
    await page.reload()
    await expect(page.getByRole('combobox', { name: t('search.more.favoured') })).toHaveValue('team=red')
    await expect(hits.first()).toContainText('at the counter')
  } finally {
    await drop(id)
  }
})

// The gateway of these tests logs nothing, so it is told to say that it does; what it takes then is tested with it.
test('what people do with an answer is told where that is logged', async ({ page, baseURL }) => {
  await page.route((url) => url.pathname === '/', async (route) => {
    if (route.request().headers().accept?.includes('text/html')) return route.continue()
    const answer = await route.fetch()
    return route.fulfill({ response: answer, json: { ...(await answer.json()), events: true } })
  })
  const told: { action_name: string; query_id: string; event_id: string; client_id: string; event_attributes: { session_id: string; object: { object_id: string }; position: { ordinal: number } } }[] = []
  await page.route(`${baseURL}/v1/events`, (route) => {
    told.push(...route.request().postDataJSON().events)
    return route.fulfill({ status: 202, json: { accepted: 1 } })
  })
  const asked = page.waitForRequest(`${baseURL}/v1/search`)
  await page.goto('/?q=synonyms')
  const { client_id: client, session_id: session } = (await asked).postDataJSON()
  const hits = page.locator('.hit')
  await expect(hits).toHaveCount(10)
  await hits.nth(1).locator('summary, button').last().click()
  const clicks = () => told.filter((e) => e.action_name === 'click')
  await expect.poll(() => clicks().length).toBe(1)
  const shown = told.filter((e) => e.action_name === 'impression')
  expect(shown.map((e) => e.event_attributes.position.ordinal)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(clicks()[0]).toMatchObject({
    query_id: shown[1]?.query_id, client_id: client,
    event_attributes: { session_id: session, position: { ordinal: 2 }, object: shown[1]?.event_attributes.object },
  })
  expect(new Set(told.map((e) => e.event_id)).size).toBe(told.length)
})
