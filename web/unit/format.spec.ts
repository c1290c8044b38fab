import { expect, test } from '@playwright/test'
import { bytes, chance, chanceOf, csv, ms, percent } from '../src/lib/format'

test('a probability says neither none nor all, and rounds to whole points between', () => {
  const said: [number, string][] = [
    [0, '<1 %'], [0.0099, '<1 %'], [0.01, '1 %'], [0.0149, '1 %'], [0.015, '2 %'], [0.5, '50 %'],
    [0.985, '99 %'], [0.99, '99 %'], [0.9901, '>99 %'], [0.995, '>99 %'], [1, '>99 %'],
  ]
  for (const [p, text] of said) expect(chance(p), String(p)).toBe(text)
  expect(percent(1)).toBe('100 %') // a share may be all
})

test('the p of a test has four places, and is never nothing', () => {
  for (const [p, text] of [[0, '<0.0001'], [0.00009, '<0.0001'], [0.0001, '0.0001'], [0.04996, '0.0500'], [1, '1.0000']] as const) expect(chanceOf(p)).toBe(text)
})

test('milliseconds and bytes have as many digits as they deserve', () => {
  for (const [value, text] of [[0, '0.00'], [0.004, '<0.01'], [0.005, '0.01'], [0.094, '0.09'], [0.095, '0.1'], [9.94, '9.9'], [9.95, '10']] as const) expect(ms(value)).toBe(text)
  for (const [n, text] of [[0, '0 B'], [999, '999 B'], [1000, '1.0 kB'], [99_949, '99.9 kB'], [100_000, '100 kB'], [1_000_000, '1.0 MB'], [2e15, '2000 TB']] as const) expect(bytes(n)).toBe(text)
})

test('a field of CSV runs nothing and breaks no line', () => {
  const fields: [unknown, string][] = [
    ['plain', 'plain'], ['a,b', '"a,b"'], ['a "b"', '"a ""b"""'], ['a\nb', '"a\nb"'], [null, ''], [-1.5, '-1.5'], ['-1.5', '-1.5'],
    ['=1+1', "'=1+1"], ['+cmd', "'+cmd"], ['-cmd', "'-cmd"], ['@x', "'@x"], ['\t=1', "'\t=1"], ['\r=1', '"\'\r=1"'],
  ]
  for (const [value, text] of fields) expect(csv(value), JSON.stringify(value)).toBe(text)
})
