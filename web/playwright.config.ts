import { defineConfig } from '@playwright/test'

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  snapshotPathTemplate: '{testDir}/looks/{arg}{ext}',
  updateSnapshots: 'none', // --update-snapshots draws them
  globalSetup: './e2e/gateway.ts',
  workers: 2, // each with a gateway of its own; they wait more than they compute
  timeout: 240_000, // Go's tests run beside these
  expect: { timeout: 60_000 },
  forbidOnly: Boolean(process.env.CI),
  reporter: [['list']],
  use: {
    launchOptions: {
      executablePath: process.env.HYBRIDGE_TEST_CHROMIUM ?? '/usr/bin/chromium-headless-shell',
      args: ['--no-sandbox'],
    },
    viewport: { width: 1440, height: 900 },
    locale: 'en-US',
    trace: 'off',
    contextOptions: { reducedMotion: 'reduce' }, // what is drawn sixty times a second takes a sixth of the browser's time
  },
})
