import { readFileSync } from 'node:fs'
import { expect, test } from '@playwright/test'

const read = (name: string) => JSON.parse(readFileSync(`src/i18n/${name}.json`, 'utf8')) as Record<string, string>

test('both languages put the same values into their texts', () => {
  const values = (s = '') => [...s.matchAll(/\{\w+\}/g)].map(String).sort()
  for (const file of ['', 'pages.']) {
    const zh = read(`${file}zh`)
    for (const [key, said] of Object.entries(read(`${file}en`))) expect(values(zh[key]), key).toEqual(values(said))
  }
})
