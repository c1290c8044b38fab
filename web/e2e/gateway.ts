// Starts the real gateway, Elasticsearch beside its embedded engine, with the demo documents and
// the real embedding model, and waits until they are searchable.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chat } from './chat'

const patience = 420_000 // the model embeds every chunk; on a busy machine that takes its time

export default async function start() {
  if (process.env.HYBRIDGE_TEST_URL) return undefined // one that runs already, for work on the tests
  const binary = process.env.HYBRIDGE_TEST_BINARY
  if (!binary) throw new Error('HYBRIDGE_TEST_BINARY must name the gateway; scripts/test-web sets it')
  const folder = mkdtempSync(join(tmpdir(), 'hybridge-web-'))
  const args = ['serve', '--demo', '--listen', '127.0.0.1:0', '--data-dir', folder,
    '--embedding-url', process.env.HYBRIDGE_TEST_EMBEDDING_URL ?? '', '--embedding-model', 'multilingual-e5-small']
  const prefix = `web-test-${Date.now().toString(36)}`
  const elasticsearch = process.env.HYBRIDGE_TEST_ELASTICSEARCH_URL
  if (elasticsearch) args.push('--elasticsearch-url', elasticsearch)
  const model = await chat()
  process.env.HYBRIDGE_TEST_CHAT_URL = model.url
  const gateway = spawn(binary, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      HYBRIDGE_DEFAULT_ENGINE: 'embedded',
      HYBRIDGE_ANSWER_URL: model.url,
      HYBRIDGE_ANSWER_MODEL: 'scripted',
      HYBRIDGE_AUDIT_PATH: join(folder, 'audit.jsonl'),
      HYBRIDGE_ELASTICSEARCH_INDEX_PREFIX: prefix,
    },
  })
  const stop = async () => {
    const ended = new Promise((resolve) => gateway.once('exit', resolve))
    if (gateway.exitCode === null) {
      gateway.kill('SIGTERM')
      await ended
    }
    model.stop()
    for (const own of elasticsearch ? ['catalog', 'history', 'mappings', 'records'] : []) {
      await fetch(`${elasticsearch}/${prefix}-${own}`, { method: 'DELETE' })
    }
    if (elasticsearch) await fetch(`${elasticsearch}/_index_template/${prefix}`, { method: 'DELETE' })
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const url = await address(gateway)
    await until(async () => (await demoDocuments(url)) >= 20)
    process.env.HYBRIDGE_TEST_URL = url
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}

/** The gateway says on its first line where it serves. */
function address(gateway: ChildProcess): Promise<string> {
  let said = ''
  return new Promise((resolve, reject) => {
    const hear = (data: Buffer) => {
      said += data.toString()
      const found = /serves on (http:\S+)/.exec(said)
      if (found?.[1]) resolve(found[1])
    }
    gateway.stdout?.on('data', hear)
    gateway.stderr?.on('data', hear)
    gateway.once('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${said.slice(-2000)}`)))
  })
}

async function demoDocuments(url: string): Promise<number> {
  const answer = await fetch(`${url}/v1/knowledge-bases/docs/documents?limit=1000`)
  if (!answer.ok) return 0
  const page = (await answer.json()) as { documents: unknown[] | null }
  return page.documents?.length ?? 0
}

async function until(done: () => Promise<boolean>) {
  const end = Date.now() + patience
  while (!(await done())) {
    if (Date.now() > end) throw new Error('the demo was not filled in time')
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
}
