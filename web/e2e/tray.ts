import type { Page } from '@playwright/test'
import { expect, type text } from './fixture'

export type Text = (key: Parameters<typeof text>[1], values?: Parameters<typeof text>[2]) => string
export const markdown = (name: string, content: string) => ({ name, mimeType: 'text/markdown', buffer: Buffer.from(content) })

export const trayOf = (page: Page, t: Text) => page.getByRole('region', { name: t('uploads.title') })
export const rowOf = (page: Page, name: string) => page.locator('.uploads > li', { hasText: name })

/** Opens the upload dialog of a knowledge base. */
export async function dialogOf(page: Page, id: string, t: Text) {
  await page.getByRole('button', { name: t('bases.upload.to', { name: id }) }).click()
  return page.getByRole('dialog')
}

/** Gives files to a knowledge base and opens the tray. */
export async function give(page: Page, id: string, t: Text, files: ReturnType<typeof markdown>[]) {
  const dialog = await dialogOf(page, id, t)
  await dialog.getByLabel(t('bases.upload.choose')).setInputFiles(files)
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await trayOf(page, t).getByRole('button', { expanded: false }).click()
}
