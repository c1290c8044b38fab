// A server of chat completions that says what a question asks it to: it stands for a language model, of which
// no two answers are the same.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const said = ['Ranks are fused by reciprocal rank [1', ']. Scores are brought to one scale [2]', '. Nobody knows why.']

/** Starts it; GET of its address says how many clients went away before the end. */
export async function chat(): Promise<{ url: string; stop: () => void }> {
  let left = 0
  const server = createServer((request, response) => {
    if (request.method === 'GET') return void response.end(String(left))
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => answer(body, response))
    response.on('close', () => { if (!response.writableEnded) left++ })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function answer(body: string, response: ServerResponse) {
  if (body.includes('engine that fails')) return void response.writeHead(500).end('{"error": {"message": "no memory"}}')
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  const say = (content: string) => response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
  for (const part of said) say(part)
  if (body.includes('engine that never ends')) return
  response.end('data: [DONE]\n\n')
}
