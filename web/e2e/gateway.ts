// Starts real gateways, one for each worker, Elasticsearch beside the embedded engine, with the demo documents and
// the real embedding model, and waits until they are searchable.
import { spawn, type ChildProcess } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chat } from './chat'

const patience = 420_000 // the model embeds every chunk; on a busy machine that takes its time

interface Running { url: string; stop: () => Promise<void> }

/** Starts a gateway on the data of a folder, with the demo, and answers when it is searchable. */
async function serve(folder: string, env: Record<string, string>): Promise<Running> {
  const binary = process.env.HYBRIDGE_TEST_BINARY
  if (!binary) throw new Error('HYBRIDGE_TEST_BINARY must name the gateway; scripts/test-web sets it')
  const gateway = spawn(binary, ['serve', '--demo', '--listen', '127.0.0.1:0', '--data-dir', folder,
    '--embedding-url', process.env.HYBRIDGE_TEST_EMBEDDING_URL ?? '', '--embedding-model', 'multilingual-e5-small'],
  { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HYBRIDGE_DEFAULT_ENGINE: 'embedded', ...env } })
  const stop = async () => {
    const ended = new Promise((resolve) => gateway.once('exit', resolve))
    if (gateway.exitCode === null) {
      gateway.kill('SIGTERM')
      await ended
    }
  }
  try {
    const url = await address(gateway)
    await until(async () => (await demoDocuments(url)) >= 20)
    return { url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Fills the demo once; each worker's gateway begins with a copy of its folder. */
export default async function fillDemo() {
  if (process.env.HYBRIDGE_TEST_URL) return undefined // a gateway that runs already, for work on the tests
  const folder = mkdtempSync(join(tmpdir(), 'hybridge-web-demo-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    await (await serve(folder, {})).stop()
  } catch (error) {
    remove()
    throw error
  }
  process.env.HYBRIDGE_TEST_DEMO = folder
  return remove
}

/** Starts the gateway of a worker, whose address HYBRIDGE_TEST_URL is then; answers what ends it. */
export async function start(): Promise<() => Promise<void>> {
  if (process.env.HYBRIDGE_TEST_URL) return async () => {}
  const folder = mkdtempSync(join(tmpdir(), 'hybridge-web-'))
  cpSync(process.env.HYBRIDGE_TEST_DEMO ?? '', folder, { recursive: true })
  const prefix = `web-test-${process.pid}-${Date.now().toString(36)}`
  const elasticsearch = process.env.HYBRIDGE_TEST_ELASTICSEARCH_URL
  const model = await chat()
  process.env.HYBRIDGE_TEST_CHAT_URL = model.url
  const clean = async () => {
    model.stop()
    for (const own of elasticsearch ? ['catalog', 'history', 'mappings', 'records'] : []) {
      await fetch(`${elasticsearch}/${prefix}-${own}`, { method: 'DELETE' })
    }
    if (elasticsearch) await fetch(`${elasticsearch}/_index_template/${prefix}`, { method: 'DELETE' })
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const gateway = await serve(folder, {
      HYBRIDGE_ANSWER_URL: model.url,
      HYBRIDGE_ANSWER_MODEL: 'scripted',
      HYBRIDGE_AUDIT_PATH: join(folder, 'audit.jsonl'),
      HYBRIDGE_ELASTICSEARCH_INDEX_PREFIX: prefix,
      ...(elasticsearch ? { HYBRIDGE_ELASTICSEARCH_URL: elasticsearch } : {}),
    })
    process.env.HYBRIDGE_TEST_URL = gateway.url
    return async () => {
      await gateway.stop()
      await clean()
    }
  } catch (error) {
    await clean()
    throw error
  }
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
