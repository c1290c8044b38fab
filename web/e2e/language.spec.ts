import { drop, expect, fill, inBothLanguages, test } from './fixture'
import { give, rowOf } from './tray'
import { elasticsearch } from './skip'

// What the gateway says, in the language of the page: errors, why a leg took no part, why
// nothing was found, what a mapping differs in, and the steps of a migration.
const said = {
  en: {
    preset: 'preset is "nonsense"; it must be one of',
    degraded: 'vector has 384 numbers; it must have 4, the dimension of knowledge base',
    empty: 'no chunk matches the query',
    change: 'type of a field is fixed for life',
    step: 'switch to the new index',
    line: 'content is ""; it must be text',
  },
  zh: {
    preset: 'preset 的值为 "nonsense"；应为下列之一',
    degraded: 'vector 有 384 个数；应有 4 个，即知识库',
    empty: '没有与问题匹配的片段',
    change: '字段的 type 创建后不能更改',
    step: '切换到新索引',
    line: 'content 的值为 ""；应为文本',
  },
}

inBothLanguages('what the gateway says is in the language of the page', async (page, _, language) => {
  const id = `told-${language}`
  await fill(id, { engine: 'embedded', dimensions: 4 }, [{ id: 'a', content: 'Press the refund button.', vector: [1, 0, 0, 0] }])
  try {
    await page.goto(`/?kb=${id}&q=refund&preset=nonsense`)
    await expect(page.getByRole('alert')).toContainText(said[language].preset)
    await page.goto(`/?kb=${id}&q=refund`)
    await expect(page.getByText(said[language].degraded)).toBeVisible()
    await page.goto(`/?kb=${id}&q=zzzqqq&preset=text`)
    await expect(page.getByText(said[language].empty)).toBeVisible()
    // The answer that is there is asked for again in the other language.
    const other = language === 'en' ? 'zh' : 'en'
    await page.getByRole('button', { name: other === 'zh' ? '中文' : 'English' }).click()
    await expect(page.getByText(said[other].empty)).toBeVisible()
    await expect(page.getByText(said[language].empty)).toHaveCount(0)
  } finally {
    await drop(id)
  }
})

inBothLanguages('why an upload fails is in the language of the page', async (page, t, language) => {
  const id = `upload-${language}`
  await fill(id, { engine: 'embedded', dimensions: 0 }, [{ id: 'a', content: 'one' }])
  try {
    await page.goto('/knowledge-bases')
    await give(page, id, t, [{ name: 'lines.ndjson', mimeType: 'application/x-ndjson', buffer: Buffer.from('{"id": "b", "content": ""}\n') }])
    await expect(rowOf(page, 'lines.ndjson')).toContainText(said[language].line)
  } finally {
    await drop(id)
  }
})

inBothLanguages('what a mapping differs in and the steps of its plan are in the language of the page', async (page, t, language) => {
  elasticsearch()
  const id = `planned-${language}`
  await fill(id, { engine: 'elasticsearch', dimensions: 4 }, [{ id: 'a', content: 'one', vector: [1, 0, 0, 0] }])
  try {
    await page.goto(`/mappings?kb=${id}`)
    await page.getByRole('combobox', { name: t('map.vector_index') }).selectOption('hnsw')
    await page.getByRole('button', { name: t('map.plan'), exact: true }).click()
    await expect(page.locator('.steps')).toContainText(said[language].step)
    await expect(page.locator('td.reason')).toContainText(said[language].change)
  } finally {
    await drop(id)
  }
})
