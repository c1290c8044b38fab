import { expect, inBothLanguages } from './fixture'

inBothLanguages('an error of the gateway is told in the language of the page, which may be changed', async (page, t, language) => {
  await page.goto('/?kb=docs&q=refund&preset=nonsense')
  const error = page.getByRole('alert').filter({ hasText: t('error.title') })
  const said = { en: /preset is "nonsense"; it must be one of /, zh: /preset.*"nonsense".*[一-鿿]/ }
  const other = language === 'en' ? 'zh' : 'en'
  await expect(error).toContainText(said[language])
  await page.getByRole('button', { name: other === 'zh' ? '中文' : 'English' }).click()
  await expect(page.getByRole('alert')).toContainText(said[other])
})
