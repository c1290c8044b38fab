import { expect, test } from './fixture'

test('the API is shown, and can be tried, by the gateway alone', async ({ page }) => {
  await page.goto('/')
  await page.getByRole('link', { name: 'API', exact: true }).click()
  await expect(page.locator('.info .title')).toContainText('Hybridge')
  const presets = page.locator('#operations-search-list-presets')
  await presets.getByRole('button', { name: /presets/ }).first().click()
  await presets.getByRole('button', { name: 'Execute' }).click()
  await expect(presets.locator('.live-responses-table')).toContainText('balanced')
})
