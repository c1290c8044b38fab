// A gateway of its own for tests that lock, log or fill one, without the demo.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Starts it with these settings beside those of the tests; answers its address, and what ends it. */
export async function ownGateway(env: Record<string, string>, ...args: string[]): Promise<[address: string, stop: () => Promise<void>]> {
  const folder = mkdtempSync(join(tmpdir(), 'hybridge-own-'))
  const gateway = spawn(process.env.HYBRIDGE_TEST_BINARY ?? '', ['serve', '--listen', '127.0.0.1:0', '--data-dir', folder, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, HYBRIDGE_EMBEDDING_LOCAL_ENABLED: 'off', HYBRIDGE_DEFAULT_ENGINE: 'embedded', ...env },
  })
  const address = await new Promise<string>((resolve, reject) => {
    let said = ''
    gateway.stdout.on('data', (data: Buffer) => {
      said += data.toString()
      const found = /serves on (http:\S+)/.exec(said)
      if (found?.[1]) resolve(found[1])
    })
    gateway.once('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${said.slice(-2000)}`)))
  })
  return [address, async () => {
    const ended = new Promise((resolve) => gateway.once('exit', resolve))
    gateway.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }]
}
