import { defineConfig } from '@playwright/test'

// State machines without a browser, read as TypeScript by the runner that is there for the browser anyway: the
// oldest Node.js that is promised has no types to strip, and its own runner none to read.
export default defineConfig({
  testDir: 'unit',
  outputDir: 'test-results/unit',
  workers: 1,
  timeout: 30_000,
  forbidOnly: Boolean(process.env.CI),
  reporter: [['dot']],
})
