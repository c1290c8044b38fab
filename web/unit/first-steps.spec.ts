import { expect, test } from '@playwright/test'
import { after, areShown, notBegun, type Event } from '../src/lib/first-steps'

const told = (...events: Event[]) => events.reduce(after, notBegun(false))

test('the first steps begin where there is nothing to search, and nowhere else', () => {
  expect(areShown(told({ name: 'counted', chunks: 0 }))).toBe(true)
  expect(areShown(told({ name: 'counted', chunks: 12 }))).toBe(false)
  expect(areShown(told({ name: 'counted', chunks: 12 }, { name: 'found' }))).toBe(false)
})

test('texts that come in are a step, not the end', () => {
  const s = told({ name: 'counted', chunks: 0 }, { name: 'counted', chunks: 12 })
  expect(areShown(s)).toBe(true)
  expect(s.asked).toBe(false)
})

test('the first answer is the last step; whoever goes on ends them', () => {
  const s = told({ name: 'counted', chunks: 0 }, { name: 'counted', chunks: 12 }, { name: 'found' })
  expect(s).toEqual({ begun: true, asked: true, dismissed: false })
  expect(areShown(after(s, { name: 'done' }))).toBe(false)
})

test('dismissed, they stay away, now and when the page is opened again', () => {
  expect(areShown(told({ name: 'counted', chunks: 0 }, { name: 'dismissed' }))).toBe(false)
  expect(areShown(after(notBegun(true), { name: 'counted', chunks: 0 }))).toBe(false)
})
