import type { Locator, Page } from '@playwright/test'
import { accessible, ask, drop, expect, fill, inBothLanguages, writtenIn } from './fixture'

interface Edited {
  path: string
  page: string
  /** A body of a save, all but its base_version. */
  theirs: (n: number) => object
  field: (page: Page, t: (key: never) => string) => Locator
  mine: string
  read: (field: Locator) => Promise<string>
}

const rule = (name: string) => ({ rules: [{ name, when: { match: 'exact', queries: ['q'] }, pin: [{ chunk_id: 'c1' }] }] })
const pages = (kb: string, preset: string): Edited[] => [
  {
    path: `/v1/synonyms/${kb}`, page: `/synonyms?kb=${kb}`, theirs: (n) => ({ text: `theirs, number${n}` }), mine: 'mine, own', read: writtenIn,
    field: (page, t) => page.getByRole('textbox', { name: t('syn.rules' as never) }),
  },
  {
    path: `/v1/rules/${kb}`, page: `/rules?kb=${kb}`, theirs: (n) => rule(`theirs ${n}`), mine: 'mine', read: (field) => field.inputValue(),
    field: (page, t) => page.getByRole('textbox', { name: t('rules.name' as never) }),
  },
  {
    path: `/v1/presets/${preset}`, page: `/presets?name=${preset}`, theirs: (n) => ({ definition: { base: 'rrf', top_k: n } }), mine: 'base: rrf\ntop_k: 77', read: writtenIn,
    field: (page, t) => page.getByRole('textbox', { name: t('presets.text' as never) }),
  },
]

// A page that somebody has overtaken says who and keeps what is on it; theirs is loaded, mine put back and saved over it.
inBothLanguages('what somebody saved meanwhile is neither overwritten nor in the way', async (page, t, language) => {
  const kb = `overtaken-${language}`
  await fill(kb, { dimensions: 0 }, [{ id: 'c1', document_id: 'd1', content: 'a chunk' }])
  for (const edited of pages(kb, kb)) {
    const save = async (n: number) => (JSON.parse(await ask('PUT', edited.path, JSON.stringify(edited.theirs(n)))) as { version: number }).version
    const stored = () => ask('GET', edited.path)
    await save(11)
    await page.goto(edited.page)
    const field = edited.field(page, t as never)
    await field.fill(edited.mine)
    const newer = await save(12)
    await page.getByRole('button', { name: t('syn.save'), exact: true }).click()
    const alert = page.getByRole('alert').filter({ hasText: t('conflict.about') })
    await expect(alert).toContainText(String(newer))
    expect(await edited.read(field)).toBe(edited.mine)
    await accessible(page)

    await alert.getByRole('button', { name: t('conflict.load', { version: newer }) }).click()
    await expect.poll(() => edited.read(field)).toContain('12')
    await page.getByRole('button', { name: t('conflict.back') }).click()
    await expect.poll(() => edited.read(field)).toBe(edited.mine)
    const newest = await save(13)
    await page.getByRole('button', { name: t('syn.save'), exact: true }).click()
    await page.getByRole('alert').getByRole('button', { name: t('conflict.over') }).click()
    await expect(page.getByRole('alert')).toHaveCount(0)
    await expect.poll(stored).toContain(edited.mine.split('\n').at(-1)!.replace('top_k: ', '"top_k":'))
    await expect.poll(stored).toContain(`"version":${newest + 1}`)

    const last = await save(14)
    await page.getByRole('button', { name: t('syn.rollback', { version: newer - 1 }) }).click()
    await page.getByRole('alert').getByRole('button', { name: t('conflict.load', { version: last }) }).click()
    await expect.poll(() => edited.read(field)).toContain('14')
  }
  await ask('DELETE', `/v1/presets/${kb}`)
  await drop(kb)
})

// Of two who judge the same hit the later is told, and an undo takes back nobody else's grade.
inBothLanguages('two judges do not overwrite each other', async (page, t, language) => {
  const id = `both-${language}`
  await fill(id, { dimensions: 0 }, [1, 2].map((n) => ({ id: `c${n}`, document_id: `d${n}`, content: `How long a refund takes, part ${n}.` })))
  await ask('PUT', `/v1/query-sets/${id}`, JSON.stringify({ knowledge_bases: [id] }))
  await ask('POST', `/v1/query-sets/${id}/queries`, JSON.stringify({ queries: [{ id: 'q', text: 'refund' }] }))
  await ask('PUT', `/v1/judgments/${id}`, JSON.stringify({ query_set: id }))
  const judgments = async () => (JSON.parse(await ask('GET', `/v1/judgments/${id}/judgments`)) as { judgments: { grade: number; judge?: string }[] }).judgments
  const theirs = (grade: number) => ask('POST', `/v1/judgments/${id}/judgments`, JSON.stringify({ judgments: [1, 2].map((n) => ({ query_id: 'q', chunk_id: `c${n}`, grade, judge: 'Bert' })) }))
  await page.goto(`/judge/${id}?preset=text`)
  await expect(page.getByRole('article', { name: t('judge.hit') })).toBeVisible()
  await theirs(1)
  await page.keyboard.press('3')
  await expect(page.getByText(t('judge.taken.about'))).toBeVisible()
  await expect(page.getByText(/Bert/)).toBeVisible()
  expect((await judgments()).map((j) => j.grade)).toEqual([1, 1])
  await page.keyboard.press('3')
  await expect.poll(async () => (await judgments()).map((j) => j.grade).sort()).toEqual([1, 3])
  await theirs(2)
  await page.keyboard.press('u')
  await expect(page.getByText(t('judge.taken.about'))).toHaveCount(0)
  expect((await judgments()).map((j) => j.grade)).toEqual([2, 2])
  await ask('DELETE', `/v1/query-sets/${id}`)
  await drop(id)
})
