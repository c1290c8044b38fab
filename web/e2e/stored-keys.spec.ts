import { accessible, expect, test, text } from './fixture'
import { ownGateway } from './own-gateway'

let address = ''
let stop = async () => {}
test.beforeAll(async () => void ([address, stop] = await ownGateway({})))
test.afterAll(() => stop())
test.use({ baseURL: async ({}, use) => use(address), guard: async ({}, use) => use() })

// The first key may do everything and opens this tab; one more that may only search is rotated and revoked.
test('keys are made, shown once, rotated and revoked', async ({ page }) => {
  const t = (key: Parameters<typeof text>[1], values?: Record<string, string | number>) => text('en', key, values)
  await page.goto('/keys')
  await expect(page.getByText(t('apikeys.none'))).toBeVisible()
  const make = async (name: string) => {
    await page.getByRole('button', { name: t('apikeys.make') }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: t('apikeys.name') }).fill(name)
    await dialog.getByRole('button', { name: t('apikeys.make') }).click()
    const secret = page.getByRole('region', { name: t('apikeys.secret', { name }) })
    const key = (await secret.innerText()).trim()
    await page.getByRole('button', { name: t('app.close') }).click()
    return key
  }
  const allows = async (key: string) => (await fetch(`${address}/v1/presets`, { headers: { Authorization: `Bearer ${key}` } })).status
  expect(await allows(await make('first'))).toBe(200)
  const second = await make('reader')
  expect(await allows(second)).toBe(200)
  await accessible(page)
  const row = page.getByRole('row', { name: /reader/ })
  await row.getByRole('button', { name: t('apikeys.rotate.name', { name: 'reader' }) }).click()
  await page.getByRole('dialog').getByRole('button', { name: t('apikeys.rotate'), exact: true }).click()
  await page.getByRole('button', { name: t('app.close') }).click()
  await expect.poll(() => allows(second)).toBe(401)
  await row.getByRole('button', { name: t('apikeys.revoke.name', { name: 'reader' }) }).click()
  await page.getByRole('dialog').getByRole('button', { name: t('apikeys.revoke'), exact: true }).click()
  await expect(row.getByText(t('apikeys.revoked'))).toBeVisible()
})
