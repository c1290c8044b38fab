import type { Presets } from '../src/api/schema'
import terms from '../src/i18n/terms.json' with { type: 'json' }
import { accessible, base, expect, inBothLanguages } from './fixture'

inBothLanguages('a preset says what it does and when to use it', async (page, t, language) => {
  const answer = await fetch(`${base()}/v1/presets`, { headers: { 'Accept-Language': language } })
  const { details } = (await answer.json()) as Presets
  const rrf = details?.find((d) => d.name === 'rrf')
  expect(/[一-龥]/.test(rrf?.description ?? '')).toBe(language === 'zh')
  await page.goto('/?kb=docs')
  const preset = page.getByRole('combobox', { name: t('search.preset') })
  await expect(preset).not.toHaveAccessibleDescription('')
  await preset.selectOption('rrf')
  await expect(preset).toHaveAccessibleDescription(new RegExp(`^${rrf?.description}.*${rrf?.when_to_use}$`))
  await accessible(page)
})

inBothLanguages('a term says what it means when it is focused, pointed at or tapped, once a view', async (page, t, language) => {
  await page.goto('/compare?kb=docs&col=text~~&col=rrf~~&q=how+are+scores+fused')
  await expect(page.locator('.agreement tbody tr')).toHaveCount(1)
  const { text, guide } = terms.rbo[language]
  const rbo = page.getByRole('button', { name: t('compare.rbo'), exact: true })
  const card = page.getByRole('dialog', { name: t('compare.rbo') })
  await rbo.hover()
  await expect(card).toContainText(text)
  await expect(card.getByRole('link', { name: t('term.more') })).toHaveAttribute('href', `/guide/${language}/${guide}`)
  await accessible(page)
  await page.mouse.move(700, 5)
  await expect(card).toBeHidden()
  await page.getByRole('button', { name: t('compare.tau'), exact: true }).focus()
  await page.keyboard.press('Shift+Tab') // a key, so that the focus is seen
  await expect(rbo).toBeFocused()
  await expect(card).toBeVisible()
  await page.keyboard.press('Tab')
  await expect(card.getByRole('link')).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(card).toBeHidden()
  await rbo.click()
  await expect(card).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(card).toBeHidden()
  await expect(page).toHaveURL(/\/compare/)
  const said = await page.locator('.term').allTextContents()
  expect(new Set(said).size).toBe(said.length)
})
