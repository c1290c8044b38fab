import { accessible, ask, expect, inBothLanguages, writtenIn } from './fixture'

// A preset begins as a copy, is tried, refused where it is wrong, saved, changed, taken back and deleted.
inBothLanguages('a preset is made, tried, saved, taken back and deleted', async (page, t, language) => {
  const name = `mine-${language}`
  await ask('DELETE', `/v1/presets/${name}`).catch(() => undefined) // of a run that was ended
  await page.goto('/presets')
  await page.getByRole('link', { name: 'rrf', exact: true }).click()
  await expect(page.getByText(t('presets.builtin.about'))).toBeVisible()
  await page.getByRole('link', { name: t('presets.copy') }).click()
  await page.getByRole('textbox', { name: t('presets.name') }).fill(name)
  const words = page.getByRole('spinbutton', { name: t('presets.words') })
  await words.fill('90')
  const yaml = page.getByRole('textbox', { name: t('presets.text') })
  await expect.poll(() => writtenIn(yaml)).toMatch(/text: 0\.9\n\s+vector: 0\.1/)
  const question = page.getByRole('textbox', { name: t('syn.try') })
  await question.fill('how are scores fused')
  await page.getByRole('button', { name: t('syn.try.go') }).click()
  await expect(page.locator('.sides li').first()).toBeVisible()
  const save = page.getByRole('button', { name: t('syn.save') })
  await yaml.fill('# of ours\nbase: linear\nnormalizer: best')
  await save.click()
  await expect(page.getByRole('alert')).toContainText('normalizer')
  await expect(page.locator('.problems li')).toContainText(t('editor.line', { line: 3 }))
  await yaml.fill('base: linear\nweights: {text: 1')
  await expect(save).toBeDisabled()
  await yaml.fill('{"base": "rrf", "weights": {"text": 0.9, "vector": 0.1}}')
  await save.click()
  await expect(page).toHaveURL(new RegExp(`name=${name}$`))
  await expect(page.getByText(t('syn.version', { version: 1 })).first()).toBeVisible()
  await accessible(page)

  await words.fill('20')
  await question.fill('how are scores fused')
  await page.getByRole('button', { name: t('syn.try.go') }).click()
  await expect(page.locator('.sides h3')).toHaveCount(2)
  await save.click()
  await expect(page.getByRole('status').filter({ hasText: t('presets.saved', { version: 2 }) })).toBeVisible()
  await page.getByRole('button', { name: t('syn.rollback', { version: 1 }) }).click()
  await expect(words).toHaveValue('90')

  await words.fill('50') // not saved, and gone with the preset without a question
  await page.getByRole('button', { name: t('presets.delete.name', { name }) }).click()
  await page.getByRole('dialog').getByRole('button', { name: t('presets.delete'), exact: true }).click()
  await expect(page).toHaveURL(/\/presets$/)
  await expect(page.getByRole('link', { name, exact: true })).toHaveCount(0)
})
