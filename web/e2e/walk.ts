import { resolve } from 'node:path'
import { expect, type Browser, type Locator, type Page } from '@playwright/test'
import { faultsOf, text, type Language } from './fixture'
import { tasks, type TaskName } from './tasks'

/** Walks through the page as people do, by clicks and keys alone, and counts them. */
export class Walk {
  private clicks = 0
  private fields = 0

  constructor(readonly page: Page, readonly language: Language) {}

  t(key: Parameters<typeof text>[1], values?: Parameters<typeof text>[2]): string {
    return text(this.language, key, values)
  }

  async click(what: Locator) {
    this.clicks++
    await what.click()
  }

  async press(key: string) {
    this.clicks++
    await this.page.keyboard.press(key)
  }

  async type(into: Locator, said: string) {
    this.fields++
    await into.fill(said)
  }

  async choose(from: Locator, value: string) {
    this.clicks++
    await from.selectOption(value)
  }

  /** A file is chosen by a click on the button that opens the system's dialog. */
  async give(to: Locator, files: { name: string; mimeType: string; buffer: Buffer }[]) {
    this.clicks++
    await to.setInputFiles(files)
  }

  /** A page of the head. */
  async go(name: Parameters<typeof text>[1]) {
    await this.click(this.page.getByRole('navigation', { name: this.t('nav.main') }).getByRole('link', { name: this.t(name), exact: true }))
  }

  button(key: Parameters<typeof text>[1], values?: Parameters<typeof text>[2]) {
    return this.page.getByRole('button', { name: this.t(key, values), exact: true })
  }

  /** Asks a question on the page for searching. */
  async ask(question: string) {
    await this.type(this.page.getByRole('search').getByRole('combobox'), question)
    await this.press('Enter')
  }

  /** Draws what the task ends with, where pictures are wanted, and holds the counts to what is stated. */
  async end(name: TaskName) {
    const folder = process.env.HYBRIDGE_TEST_SCREENSHOTS
    if (folder) await this.page.screenshot({ path: resolve(folder, `../tasks/${name}-${this.language}.png`) })
    expect({ clicks: this.clicks, fields: this.fields }, name).toEqual(tasks[name])
  }
}

interface Walked {
  before: (language: Language) => Promise<unknown>
  walk: (walk: Walk) => Promise<void>
  key?: () => string // that the tab has, once there is one
}

/** Walks a task in English, then in Chinese, each as somebody who opens the first page of an address anew. */
export async function walked(browser: Browser, address: string, { before, walk, key }: Walked) {
  for (const language of ['en', 'zh'] as const) {
    await before(language)
    const context = await browser.newContext({
      baseURL: address, locale: language === 'zh' ? 'zh-CN' : 'en-US', viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    const faults = faultsOf(page, address)
    if (key) await page.addInitScript((value) => sessionStorage.setItem('hybridge.key', value), key())
    await page.goto('/')
    await walk(new Walk(page, language))
    expect(faults, language).toEqual([])
    await context.close()
  }
}
