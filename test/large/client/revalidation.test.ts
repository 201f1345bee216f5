/** What a browser asks the service by itself when a page reads the same thing again with a plain `fetch`. */

import assert from 'node:assert/strict'
import { createServer, request as send } from 'node:http'
import { after, describe, test } from 'node:test'
import { scriptedServer } from '../../client/scripted-server.js'
import { create, itemOf } from '../../conformance/expect.js'
import { inChromium, useBrowser } from '../../support/chromium.js'
import { type OwnService, ownService } from '../../support/own-service.js'
import { listen } from '../../support/process.js'

/** A read as it came from the browser, and the status that the service answered with. */
interface Read {
  readonly path: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly status: number | undefined
}

/** What a page gets from `fetch`. */
interface Got {
  readonly status: number
  readonly text: string
  readonly tag: string | null
}

const newContext = useBrowser()

describe('§4.9 a plain fetch in a page revalidates by itself', inChromium, async () => {
  const elsewhere = await scriptedServer([
    (response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'),
  ])
  const pages = [
    { where: 'the same origin', pageOf: (origin: string) => `${origin}/docs` },
    { where: 'another origin', pageOf: () => new URL('/', elsewhere.baseUrl).href },
  ]
  const targets = [
    { what: 'an item', pathOf: (id: string) => `/items/${id}` },
    { what: 'the list', pathOf: () => '/items' },
  ]
  for (const { where, pageOf } of pages) {
    for (const { what, pathOf } of targets) {
      test(`${what}, from a page of ${where}`, async () => {
        const service = await ownService()
        const { origin, reads } = await notingProxy(service)
        const { id } = await create(service, { state: 'first' })
        const page = await (await newContext()).newPage()
        await page.goto(pageOf(origin))
        const path = `/api/v1${pathOf(id)}`
        const read = () =>
          page.evaluate<Got>(`(async () => {
            const headers = { authorization: 'Bearer ${service.validToken()}' }
            const response = await fetch('${origin}${path}', { headers })
            const { status } = response
            return { status, text: await response.text(), tag: response.headers.get('etag') }
          })()`)

        const first = await read()
        assert.deepEqual(await read(), first, 'session_id and all: it is the text that was kept')
        assert.match(first.text, /"state":"first"/)
        const replaced = await service.call('PUT', `/items/${id}`, { data: { state: 'second' } })
        assert.equal(itemOf(replaced, 200).state, 'second')
        const second = await read()
        assert.match(second.text, /"state":"second"/)
        assert.deepEqual(await read(), second)

        assert.deepEqual([first.status, second.status], [200, 200])
        assert.ok(first.tag && second.tag && first.tag !== second.tag)
        assert.deepEqual(
          reads.filter((each) => each.path === path),
          [
            { path, ifNoneMatch: undefined, status: 200 },
            { path, ifNoneMatch: first.tag, status: 304 },
            { path, ifNoneMatch: first.tag, status: 200 },
            { path, ifNoneMatch: second.tag, status: 304 },
          ],
        )
      })
    }
  }
})

/** Passes everything on to the service as it is, and notes the reads; until the test is over. */
async function notingProxy(service: OwnService): Promise<{ origin: string; reads: Read[] }> {
  const reads: Read[] = []
  const server = createServer((request, response) => {
    const { url: path, method, headers } = request
    const { hostname, port } = service.baseUrl
    const passed = send({ hostname, port, path, method, headers }, (answer) => {
      const { statusCode: status = 0 } = answer
      if (method === 'GET') reads.push({ path, ifNoneMatch: headers['if-none-match'], status })
      response.writeHead(status, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    request.pipe(passed)
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { origin: `http://127.0.0.1:${await listen(server)}`, reads }
}
