/** Tests that each request is answered, and items stay as they are, when any one large memory allocation fails. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Allocations } from '../support/allocations.js'
import { type OwnApp, ownApp } from '../support/own-app.js'

const long = 'x'.repeat(100_000)
/** Members of an item's `data`, as JSON text. Some are long, or take much memory to check. */
const texts = [
  '"a":1',
  `"a":"${long.slice(0, 20_000)}"`,
  `"a":"${long}"`,
  Array.from({ length: 2000 }, (_, place) => `"${place}":"${long.slice(0, 70)}"`).join(),
  `"a":${'['.repeat(200_000)}${']'.repeat(200_000)}`,
]

interface Sent {
  readonly method: 'POST' | 'GET' | 'PUT' | 'DELETE'
  readonly id: string
  readonly text: string | undefined
  readonly chunks: readonly Buffer[]
}

/** Sends a request, and waits for the response. Allocates no large memory itself, unlike the other test clients. */
async function send(
  app: OwnApp,
  method: Sent['method'],
  path: string,
  text?: string,
  ...more: string[]
): Promise<Sent> {
  const body = text === undefined ? '' : `{"project_id":"p","data":{${text}}}`
  const lines = [
    `${method} /api/v1/items${path} HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${app.validToken()}`,
    'Connection: close',
    `Content-Length: ${body.length}`,
    ...more,
  ]
  const chunks: Buffer[] = []
  const socket = connect(Number(app.baseUrl.port), '127.0.0.1')
  const closed = once(socket, 'close')
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined)
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  for (let at = 0; at < body.length; at += 40_000) {
    await delay(1) // so that the body arrives in parts
    socket.write(body.slice(at, at + 40_000))
  }
  await closed
  const location = /\r\nLocation: \S+\/(\S+)/.exec(String(chunks[0]))?.[1]
  return { method, id: location ?? path.slice(1), text, chunks }
}

async function sendAll(app: OwnApp): Promise<Sent[]> {
  const all: Sent[] = []
  for (const text of texts) all.push(await send(app, 'POST', '', text))
  const ids = all.map(({ id }) => id).filter((id) => id !== '')
  for (const path of ['', '?project_id=p', ...ids.map((id) => `/${id}`)]) {
    all.push(await send(app, 'GET', path))
  }
  const [, tag] = /\r\nETag: (\S+)/.exec(String(all.at(texts.length)?.chunks[0])) ?? []
  const waits = send(app, 'GET', '', undefined, `If-None-Match: ${tag ?? '"x"'}`, 'Prefer: wait=1')
  for (const [place, id] of ids.entries()) {
    all.push(await send(app, 'PUT', `/${id}`, texts.at(place - 1)))
  }
  all.push(await waits)
  for (const id of ids.slice(0, 2)) all.push(await send(app, 'DELETE', `/${id}`))
  return all
}

const success = { POST: '201', GET: '200', PUT: '200', DELETE: '204' }
const refusal = { POST: /^(?:507|503) /, GET: /^503 /, PUT: /^(?:507|503) /, DELETE: /^507 / }
const detail =
  /^\{"detail":\{"detail":"[^"]+","session_id":"[-\da-f]{36}","error_code":"(?:STORE_FULL|SERVICE_UNAVAILABLE)"\}\}$/

test('§7 507 or 503 when any large memory allocation fails, and items stay as they are', async (context) => {
  const allocations = new Allocations(4096)
  context.after(() => allocations.restore())
  const seen = new Set<string>()
  for (let number = 0, isLast = false; !isLast; number += 1) {
    const app = await ownApp()
    const model = new Map<string, string>()
    let all: Sent[] = []
    const { failed, thrown } = await allocations.failing(number, async () => {
      all = await sendAll(app)
    })
    assert.equal(thrown, undefined)
    isLast = !failed
    for (const { method, id, text, chunks } of all) {
      const answer = Buffer.concat(chunks).toString('latin1')
      const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
      const status = answer.slice(9, 12)
      const length = /\r\nContent-Length: (\d+)\r\n/.exec(answer)?.[1]
      // A project's list has no `Content-Length`. It's cut short if memory runs out after it has begun.
      assert.equal(Number(length ?? body.length), body.length, `${method} ${status}`)
      seen.add(status)
      if (status === '304') continue // the change for which this request waited has failed
      if (status !== success[method]) {
        assert.match(`${status} ${method}`, refusal[method])
        assert.match(body, detail)
      } else if (method === 'DELETE') model.delete(id)
      else if (text !== undefined) model.set(id, `{"id":"${id}","project_id":"p",${text}}`)
    }
    const { text } = await app.call('GET', '/items')
    assert.ok(text.endsWith(`"data":[${[...model.values()].join()}]}`), `after failure ${number}`)
    for (const [id, item] of model) {
      const { text } = await app.call('GET', `/items/${id}`)
      assert.ok(text.endsWith(`"data":${item}}`), `item ${id} after failure ${number}`)
    }
  }
  for (const status of ['503', '507']) assert.ok(seen.has(status))
  for (const name of ['ArrayBuffer', 'resize', 'Int32Array', 'Buffer.concat']) {
    assert.ok(allocations.failures.has(name), `${name} never failed`)
  }
})
