import { readFileSync } from 'node:fs'
import { expect, test } from '@playwright/test'
import { tasks } from '../e2e/tasks'

test('docs/tasks.md states the clicks and fields that the tasks are held to, and shows each', () => {
  const page = readFileSync('../docs/tasks.md', 'utf8')
  const rows = [...page.matchAll(/^\| \[(\w+)\]\(.*\) \| (\d+) \| (\d+) \|$/gm)]
  expect(Object.fromEntries(rows.map(([, name, clicks, fields]) => [name, { clicks: Number(clicks), fields: Number(fields) }]))).toEqual(tasks)
  for (const name of Object.keys(tasks)) for (const language of ['en', 'zh']) expect(page).toContain(`(tasks/${name}-${language}.png)`)
})

test('its pictures are there, and small', () => {
  for (const name of Object.keys(tasks)) {
    for (const language of ['en', 'zh']) expect(readFileSync(`../docs/tasks/${name}-${language}.png`).length).toBeLessThan(150_000)
  }
})
