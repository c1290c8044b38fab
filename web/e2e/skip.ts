import { appendFileSync } from 'node:fs'
import { test } from '@playwright/test'

/** Leaves a test out that another command runs, in CI too. */
export function byDesign(out: boolean, why: string): void {
  const notes = process.env.HYBRIDGE_TEST_SKIPS
  if (out && notes) appendFileSync(notes, `web\t${test.info().titlePath.join(' › ')}\t${why}\n`)
  test.skip(out, why)
}

/** Leaves a test out that lacks something on this machine, and fails it with CI=true. */
export function missing(out: boolean, what: string): void {
  if (out && process.env.CI === 'true') throw new Error(what)
  byDesign(out, what)
}

/** The address of Elasticsearch, for tests that need it. */
export function elasticsearch(): string {
  missing(!process.env.HYBRIDGE_TEST_ELASTICSEARCH_URL, 'HYBRIDGE_TEST_ELASTICSEARCH_URL is not set')
  return process.env.HYBRIDGE_TEST_ELASTICSEARCH_URL ?? ''
}
