import type { Page } from '@playwright/test'
import type { ExperimentsCurve, ExperimentsReport, ExperimentsValue, LiveExperiment } from '../src/api/schema'
import { accessible, ask, expect, inBothLanguages, test, text } from './fixture'

const t = (key: Parameters<typeof text>[1], values?: Parameters<typeof text>[2]) => text('en', key, values)
const remove = (path: string) => ask('DELETE', path).catch(() => '')

inBothLanguages('an experiment is designed with how long it takes, begun, stopped and deleted', async (page, t, language) => {
  const id = `designed-${language}`
  for (const left of ['designed-en', 'designed-zh']) { // of a run that failed
    await ask('POST', `/v1/experiments/${left}/stop`, '{}').catch(() => '')
    await remove(`/v1/experiments/${left}`)
  }
  await page.goto('/analytics')
  await page.getByRole('link', { name: t('eval.view.experiments') }).click()
  await expect(page.getByRole('heading', { name: t('exp.none') })).toBeVisible()
  await page.getByText(t('exp.needs')).click()
  await expect(page.getByRole('link', { name: t('exp.needs.guide') })).toHaveAttribute('href', `/guide/${language}/experiments`)
  await accessible(page)
  await page.getByRole('button', { name: t('exp.new') }).click()
  const form = page.getByRole('form', { name: t('exp.new') })
  await form.getByLabel(t('exp.id'), { exact: true }).fill(id)
  await expect(form.getByText(t('exp.needed.unknown'))).toBeVisible() // no log to count in
  await form.getByLabel(t('exp.goal.base')).fill('0.3')
  await form.getByLabel(t('exp.goal.units')).fill('5000')
  await expect(form.getByText(t('exp.needed', { units: (35_258).toLocaleString(language === 'zh' ? 'zh-CN' : 'en-US'), days: '7.1' }))).toBeVisible() // as the guide has it
  await expect(form.getByText(t('exp.needed.fits'))).toBeVisible()
  await form.getByLabel(t('exp.goal.effect')).fill('0.01')
  await expect(form.getByText(t('exp.needed.long', { days: '14' }))).toBeVisible()
  await form.getByRole('button', { name: t('exp.variant.add') }).click()
  const third = form.getByRole('group', { name: t('exp.variant', { n: 3 }) })
  await third.getByLabel(t('exp.members')).fill('{"weights": {"text": 0.9')
  await expect(third.getByText(t('exp.members.wrong'))).toBeVisible()
  await expect(form.getByRole('button', { name: t('exp.make') })).toBeDisabled()
  await third.getByLabel(t('exp.members')).fill('{"weights": {"text": 0.9, "vector": 0.1}}')
  await form.getByRole('button', { name: t('exp.guard.add') }).click()
  await accessible(page)
  await page.reload() // the address has all of it
  await expect(third.getByLabel(t('exp.members'))).toHaveValue('{"weights": {"text": 0.9, "vector": 0.1}}')
  await third.getByLabel(t('exp.variant.name'), { exact: true }).fill('now')
  await form.getByRole('button', { name: t('exp.make') }).click()
  await expect(page.getByRole('alert')).toBeVisible() // a name twice
  await third.getByLabel(t('exp.variant.name'), { exact: true }).fill('words')
  const isPlanned = language === 'zh'
  if (isPlanned) await form.getByLabel(t('exp.begin'), { exact: true }).fill('2099-01-02T03:04')
  await form.getByRole('button', { name: t(isPlanned ? 'exp.plan' : 'exp.make') }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(id)
  await expect(page.getByText(t(isPlanned ? 'exp.state.scheduled' : 'exp.state.running'), { exact: true })).toBeVisible()
  await expect(page.getByText(t('exp.off'))).toBeVisible()
  const made = JSON.parse(await ask('GET', `/v1/experiments/${id}`)) as LiveExperiment
  expect(made.variants?.map((v) => [v.name, v.share, v.request ?? null])).toEqual([
    ['now', 0.3334, null], ['rrf', 0.3333, { preset: 'rrf' }], ['words', 0.3333, { weights: { text: 0.9, vector: 0.1 } }],
  ])
  expect(Date.parse(made.start) > Date.now()).toBe(isPlanned)
  expect(Date.parse(made.end) - Date.parse(made.start)).toBe(14 * 86_400_000)
  expect(made.guard_rails).toEqual([{ metric: 'error_rate', at_most: 0.01 }])
  await accessible(page)
  await page.getByRole('button', { name: t('exp.stop') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('exp.stop.reason')).fill('enough')
  await dialog.getByRole('button', { name: t('exp.stop') }).click()
  await expect(page.getByText('enough')).toBeVisible()
  await expect(page.getByText(t('exp.state.stopped'), { exact: true })).toBeVisible()
  await page.getByRole('button', { name: t('bases.delete') }).click()
  await page.getByRole('dialog').getByRole('button', { name: t('bases.delete') }).click()
  await expect(page.getByRole('heading', { name: t('exp.none') })).toBeVisible()
})

const value = (metric: string, of: number, by = 0.02): ExperimentsValue => ({ metric, value: of, low: Math.max(0, of - by), high: of + by })
const measured = (clicks: number) => [value('click_through', clicks), value('click_mrr', clicks / 2), value('abandonment_rate', 1 - clicks), value('zero_result_rate', 0.01),
  value('refused_rate', 0), value('error_rate', 0), value('latency_ms', 12.5, 1)]

const split = {
  id: 'told', mode: 'split', unit: 'user', traffic: 0.5, state: 'running', start: '2026-12-01T08:00:00Z', end: '2026-12-15T08:00:00Z', created_at: '2026-12-01T07:00:00Z',
  knowledge_bases: ['docs'], variants: [{ name: 'now', share: 0.5 }, { name: 'words', share: 0.5, request: { preset: 'rrf', weights: { text: 0.7, vector: 0.3 } } }],
} satisfies LiveExperiment

/** A difference that becomes sure: by half a day, with an interval that narrows. */
const curve = {
  metric: 'click_through', variant: 'words', against: 'now', even: 0, left_at: '2026-12-03T20:00:00Z',
  points: Array.from({ length: 8 }, (_, i) => {
    const half = i === 7 ? 0.04 : 0.15 / Math.sqrt(i + 1)
    return { at: new Date(Date.parse('2026-12-01T20:00:00Z') + i * 43_200_000).toISOString(), units: 250 * (i + 1), value: 0.07, low: i === 0 ? null : 0.07 - half, high: i === 0 ? null : 0.07 + half }
  }),
} satisfies ExperimentsCurve

const won = {
  experiment: 'told', at: '2026-12-05T08:00:00Z', verdict: { outcome: 'won', winner: 'words', reason: 'words is better than every other variant in click_through' },
  variants: [{ name: 'now', units: 1010, searches: 2300, metrics: measured(0.3) }, { name: 'words', units: 990, searches: 2280, metrics: measured(0.37) }],
  differences: ['click_through', 'latency_ms'].map((metric) => ({ metric, variant: 'words', against: 'now', difference: 0.07, low: 0.03, high: 0.11, p: 0.003 })),
  curves: [curve], sample_ratio: { p: 0.91, alarm: false },
  guard_rails: [{ metric: 'latency_ms', variant: 'words', against: 'now', value: 0.3, limit: 30, shown: -0.4, crossed: false }],
} satisfies ExperimentsReport

async function told(page: Page, e: LiveExperiment, report: ExperimentsReport) {
  await page.unrouteAll()
  await page.route('**/v1/experiments/told', (r) => r.fulfill({ json: e }))
  await page.route('**/v1/experiments/told/report', (r) => r.fulfill({ json: report }))
  await page.goto('/experiments/told')
}

test('a report says what won, and that becomes a preset', async ({ page }) => {
  await remove('/v1/presets/words')
  await told(page, split, won)
  await expect(page.getByText(t('exp.verdict.won', { winner: 'words' }), { exact: true })).toBeVisible()
  const differences = page.getByRole('region', { name: t('exp.differences', { metric: t('exp.metric.click_through') }) })
  await expect(differences.locator('tbody tr')).toHaveCount(1)
  await expect(differences.getByText('+7.0 [+3.0, +11.0]')).toBeVisible()
  const when = new Date(curve.left_at).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' })
  const picture = page.getByRole('img', { name: t('exp.curve.of', { variant: 'words', against: 'now', metric: t('exp.metric.click_through') }) })
  await expect(picture).toHaveAccessibleName(new RegExp(t('exp.curve.left', { line: '0', when })))
  const course = page.locator('figure').filter({ has: picture })
  await course.getByText(t('chart.table')).click()
  await expect(course.locator('tbody tr')).toHaveCount(7) // the first is not known yet
  await expect(course.locator('tbody tr').last()).toContainText('+7.0[+3.0, +11.0]2,000')
  await expect(page.getByText(t('exp.share.got', { got: '49.5 %', want: '50.0 %' }))).toBeVisible()
  await page.getByRole('button', { name: t('tune.save') }).click()
  await expect(page.getByText(t('tune.saved', { name: 'words' }))).toBeVisible()
  const saved = JSON.parse(await ask('GET', '/v1/presets/words')) as { comment: string; definition: object }
  expect(saved).toMatchObject({ comment: 'experiment told', definition: { base: 'rrf', weights: { text: 0.7, vector: 0.3 } } })

  // What changes a saved preset has that one's definition, as a base is built in.
  const based = { ...split, variants: split.variants.map((v) => (v.name === 'words' ? { ...v, request: { preset: 'words', top_k: 20 } } : v)) }
  try {
    await told(page, based, won)
    await page.getByRole('button', { name: t('eval.promote') }).click()
    await page.getByRole('dialog').getByRole('button', { name: t('eval.promote') }).click()
    await expect(page.getByRole('link', { name: t('eval.promoted.see') })).toBeVisible()
    const standard = JSON.parse(await ask('GET', '/v1/presets/default')) as { definition: object }
    expect(standard.definition).toMatchObject({ base: 'rrf', weights: { text: 0.7, vector: 0.3 }, top_k: 20 })
  } finally {
    await remove('/v1/presets/default')
    await remove('/v1/presets/words')
  }
})

test('every verdict, in one list too, light and dark at both widths: no violation, nothing cut off', async ({ page }) => {
  const bare = { ...won, curves: undefined, differences: undefined, sample_ratio: undefined, guard_rails: undefined }
  const lists = { ...bare, variants: [{ units: 300, searches: 300, metrics: measured(0.8) }], verdict: { outcome: 'won', winner: 'now', reason: 'more' },
    preference: { first: 'now', second: 'words', wins: 30, losses: 160, ties: 110, share: 0.16, low: 0.05, high: 0.3, p: 0.00001 },
    curves: [{ ...curve, metric: 'preference', variant: 'now', against: 'words', even: 0.5, points: curve.points.map((p) => ({ ...p, value: 0.16, low: 0.5 - (0.45 * p.units) / 2000, high: 0.9 - (0.6 * p.units) / 2000 })) }] } satisfies ExperimentsReport
  const cases: [LiveExperiment, ExperimentsReport, string][] = [
    [split, won, t('exp.guard.held')],
    [{ ...split, state: 'stopped', stopped: { at: '2026-12-04T08:00:00Z', reason: 'guard rail latency_ms: slow' } },
      { ...won, verdict: { outcome: 'stopped', reason: 'guard rail latency_ms: slow' }, guard_rails: [{ ...won.guard_rails[0]!, value: 40, shown: 33, crossed: true }] }, t('exp.guard.crossed')],
    [split, { ...won, verdict: { outcome: 'invalid', reason: 'variants did not get the units' }, sample_ratio: { p: 0.0001, alarm: true } }, t('exp.verdict.invalid')],
    [{ ...split, state: 'ended' }, { ...won, verdict: { outcome: 'open', reason: 'no difference' }, differences: won.differences.map((d) => ({ ...d, low: null, high: null, p: 1 })) }, t('exp.verdict.open')],
    [{ ...split, mode: 'interleave' }, lists, t('exp.preference.share', { liked: 'words', share: '84.0 %', low: '70.0 %', high: '95.0 %', p: '<0.0001' })],
  ]
  for (const [e, report, said] of cases) {
    await told(page, e, report)
    await expect(page.getByText(said, { exact: true })).toBeVisible()
    for (const width of [375, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await accessible(page)
        expect(await page.evaluate(() => document.documentElement.scrollWidth), said).toBeLessThanOrEqual(width)
      }
    }
  }
})
