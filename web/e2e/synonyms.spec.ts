import { accessible, ask, drop, expect, fill, inBothLanguages, writtenIn } from './fixture'

const chunks = [
  { id: 'a', document_id: 'cars', title: 'Cars', content: 'A car is washed on Mondays.' },
  { id: 'b', document_id: 'autos', title: 'Automobiles', content: 'An automobile needs oil, and an automobile needs tyres.' },
  { id: 'c', document_id: 'other', title: 'Other', content: 'Nothing of the kind.' },
]

inBothLanguages('a draft tells its bad lines, how it differs and what becomes of questions, before it is saved', async (page, t, language) => {
  const id = `drafted-${language}`
  await fill(id, { dimensions: 0 }, chunks)
  try {
    await ask('PUT', `/v1/synonyms/${id}`, JSON.stringify({ text: '# first\ncar, wagon\n' }))
    await ask('PUT', `/v1/synonyms/${id}`, JSON.stringify({ text: '# second\ncar, wagon\noil, lubricant\n' }))
    await page.goto(`/synonyms?kb=${id}`)
    const editor = page.getByRole('textbox', { name: t('syn.rules') })
    await expect.poll(() => writtenIn(editor)).toBe('# second\ncar, wagon\noil, lubricant\n')

    await editor.fill('car, automobile\nalone\noil => => grease\ntyre, wheel^7')
    const problems = page.locator('.problems li')
    await expect(problems).toHaveCount(3)
    await expect(problems.first()).toContainText(t('editor.line', { line: 2 }))
    await expect(editor).toHaveAttribute('aria-invalid', 'true')
    await expect(page.locator('.cm-lint-marker-error')).toHaveCount(3)
    await accessible(page)
    await problems.nth(1).getByRole('button').click()
    await expect(editor).toBeFocused() // at that line
    await page.keyboard.press('Shift+End')
    await page.keyboard.type('oil, grease') // the line that was pressed is the one that is written in
    await expect(problems).toHaveCount(2)
    await page.keyboard.press('Tab') // it is no trap
    await expect(editor).not.toBeFocused()
    await editor.fill('car, automobile\noil, lubricant')
    await expect(problems).toHaveCount(0)

    await page.getByRole('button', { name: t('syn.diff.with', { version: 1 }) }).click()
    const difference = page.getByRole('region', { name: t('syn.diff'), exact: true })
    await expect(difference.locator('.removed')).toContainText([/# first/, /car, wagon/])
    await expect(difference.locator('.added')).toContainText([/car, automobile/, /oil, lubricant/])
    await difference.getByRole('combobox', { name: t('syn.diff.to') }).selectOption('2')
    await expect(difference.locator('.added')).toHaveCount(2)

    await page.getByRole('textbox', { name: t('syn.effects.questions') }).fill('car\nMondays')
    await page.getByRole('button', { name: t('syn.effects.go') }).click()
    const effects = page.locator('.effect')
    await expect(page.getByText(t('syn.effects.changed', { changed: 1, all: 2 }))).toBeVisible()
    await expect(effects.first()).toContainText(t('syn.effects.new'))
    await expect(effects.first().locator('.tag.good').first()).toContainText('automobil')
    await expect(effects.last()).toContainText(t('syn.effects.same'))
    await accessible(page)
    expect(JSON.parse(await ask('GET', `/v1/synonyms/${id}`))).toMatchObject({ version: 2 })

    await page.setViewportSize({ width: 375, height: 812 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375)
    await page.getByRole('button', { name: t('syn.save') }).click()
    await expect(page.getByText(t('syn.saved', { version: 3, rules: 2 }))).toBeVisible()
  } finally {
    await drop(id)
  }
})
