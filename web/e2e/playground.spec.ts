import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { accessible, base, drop, expect, fill, inBothLanguages, test, text, writtenIn } from './fixture'

inBothLanguages('a request is edited, refused at its place, sent and shown as code; the address keeps it', async (page, t) => {
  await page.goto('/playground?kb=docs&tab=request&q=refund')
  await expect(page.getByRole('tab', { name: t('play.tab.request') })).toHaveAttribute('aria-selected', 'true')
  const body = page.getByRole('textbox', { name: t('play.body') })
  const answer = page.getByRole('region', { name: t('play.answer') })
  await expect.poll(() => writtenIn(body)).toContain('"query": "refund"')

  await body.fill('{\n  "query": "how are scores fused",\n  "knowledge_bases": ["docs"]\n  "preset": "rrf"\n}')
  await expect(page.locator('.problems')).toContainText(t('editor.line', { line: 4 }))
  await expect(page.getByRole('button', { name: t('play.send') })).toBeDisabled()
  await accessible(page)

  await body.fill('{"query": "how are scores fused", "knowledge_bases": ["docs"], "weights": {"text": -1}}')
  await page.getByRole('button', { name: t('play.send') }).click()
  await expect(page.getByRole('alert')).toContainText('weights.text')
  await expect(page.locator('.cm-lintRange-error')).toHaveText('"text": -1')

  await body.fill('{"query": "how are scores fused", "knowledge_bases": ["docs"], "preset": "rrf"}')
  await page.keyboard.press('ControlOrMeta+Enter')
  await expect(answer.getByRole('status').first()).toContainText('200')
  await expect(answer.locator('.cm-foldPlaceholder').first()).toBeVisible()
  await expect(answer.locator('.cm-line', { hasText: '"raw_score"' })).toHaveCount(0) // each hit is one line, whole
  await expect(answer.getByRole('textbox')).toHaveAttribute('aria-readonly', 'true')
  await answer.getByRole('button', { name: t('play.unfold') }).click()
  await expect(answer.locator('.cm-foldPlaceholder')).toHaveCount(0)
  await accessible(page)

  await page.getByRole('button', { name: t('play.keep') }).click()
  await page.getByRole('button', { name: 'Python' }).click()
  await expect(page).toHaveURL(/tab=request.*body=.*rrf.*code=python/)
  await page.reload()
  await expect.poll(() => writtenIn(body)).toContain('"preset": "rrf"')
  await expect(page.getByRole('region', { name: 'Python' })).toContainText('preset="rrf"')
  await page.getByRole('combobox', { name: t('play.route') }).selectOption('explain')
  await expect.poll(() => writtenIn(body)).toContain('"chunk_id"')
  await page.setViewportSize({ width: 375, height: 812 })
  await page.getByRole('button', { name: t('play.send') }).click()
  await expect(answer.getByRole('textbox')).toContainText('outcome')
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375)
})

test('what is sent to engines is shown and never sent', async ({ page }) => {
  const sent: string[] = []
  page.on('request', (r) => sent.push(new URL(r.url()).pathname))
  await page.goto('/playground?kb=docs&tab=statements&q=refund')
  await expect(page.getByText(text('en', 'play.never'))).toBeVisible()
  await expect(page.getByRole('tabpanel').getByRole('button', { name: text('en', 'play.send') })).toHaveCount(0)
  expect(sent.filter((path) => path.startsWith('/v1/search'))).toEqual([])
})

test('a request runs as it is shown, in a shell, in Python and in Go', async ({ page }) => {
  const run = promisify(execFile)
  const folder = mkdtempSync(join(tmpdir(), 'hybridge-code-'))
  const root = join(import.meta.dirname, '..', '..')
  const python = process.env.HYBRIDGE_TEST_PYTHON // with the client's libraries; without it, the code is parsed alone
  await fill('coded', { dimensions: 0 }, [{ id: 'a', document_id: 'd', content: 'the "price" isn\'t `5 €`' }])
  const shown = async (name: string) => {
    await page.getByRole('button', { name, exact: true }).click()
    return (await page.getByRole('region', { name, exact: true }).textContent()) ?? ''
  }
  try {
    for (const route of ['search', 'suggest', 'compare']) {
      await page.goto(`/playground?${new URLSearchParams({ kb: 'coded', preset: 'text', tab: 'request', route, q: 'the "price" isn\'t `5 €`' })}`)
      const [shell, script, program] = [await shown('curl'), await shown('Python'), await shown('Go')]
      expect((await run('sh', ['-c', shell])).stdout).toContain('{')
      const [py, go] = [join(folder, `${route}.py`), join(folder, `${route}.go`)]
      writeFileSync(py, script)
      writeFileSync(go, program)
      await run('python3', ['-c', `import ast; ast.parse(open(${JSON.stringify(py)}).read())`])
      if (python) await run(python, [py], { env: { ...process.env, PYTHONPATH: join(root, 'clients/python/src') } })
      expect((await run('gofmt', ['-l', go])).stdout).toBe('')
      const said = (await run('go', ['run', go], { cwd: root })).stdout
      expect(said).toContain(route === 'search' ? 'coded a' : '{')
      expect(shell + script + program).toContain(base())
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
    await drop('coded')
  }
})
