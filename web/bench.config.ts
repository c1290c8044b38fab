import { defineConfig } from '@playwright/test'
import own from './playwright.config'

// What `make bench` measures of the page; no test, so nothing of it fails where a machine is busy.
export default defineConfig({
  ...own,
  testDir: 'bench',
  outputDir: 'test-results/bench',
  globalSetup: undefined,
  workers: 1,
  reporter: [['line']],
})
