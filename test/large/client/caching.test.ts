/** Tests that repeated plain `fetch` calls never get a response from the browser's cache. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { scriptedServer } from '../../client/scripted-server.js'
import { create } from '../../conformance/expect.js'
import { inChromium, useBrowser } from '../../support/chromium.js'
import { ownService } from '../../support/own-service.js'
import { until } from '../../support/until.js'

interface Got {
  readonly status: number
  readonly text: string
  readonly sessionId: string
  readonly tag: string
}

const newContext = useBrowser()

describe('§1.4 each response to a page has a session_id of its own', inChromium, async () => {
  const service = await ownService({ LOG_LEVEL: 'debug' })
  const elsewhere = await scriptedServer([
    (response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'),
  ])
  const pages = [
    { where: 'the same origin', page: `${service.baseUrl.origin}/docs` },
    { where: 'another origin', page: new URL('/', elsewhere.baseUrl).href },
  ]
  const { id } = await create(service, { state: 'first' })
  const targets = [
    { what: 'an item', path: `/items/${id}`, status: 200, token: service.validToken() },
    { what: 'the list', path: '/items', status: 200, token: service.validToken() },
    { what: 'the health check', path: '/health', status: 200, token: service.validToken() },
    { what: 'the error of an unknown path', path: '/nothing', status: 404, token: 'none' },
  ]
  for (const { where, page: address } of pages) {
    for (const { what, path, status, token } of targets) {
      test(`${what}, three times from a page of ${where}`, async () => {
        const page = await (await newContext()).newPage()
        await page.goto(address)
        const read = (headers: object = {}) =>
          page.evaluate<Got>(`(async () => {
            const headers = { authorization: 'Bearer ${token}', ...${JSON.stringify(headers)} }
            const response = await fetch('${service.baseUrl.href}${path}', { headers })
            const { status } = response
            const [sessionId, tag] = ['x-session-id', 'etag'].map((name) => response.headers.get(name))
            return { status, text: await response.text(), sessionId, tag }
          })()`)

        const all = [await read(), await read(), await read()]
        assert.deepEqual(
          all.map((each) => each.status),
          [status, status, status],
        )
        const inBodies = all.map(({ text }) => /"session_id":"([\w-]+)"/.exec(text)?.[1])
        assert.equal(new Set(inBodies).size, 3)
        assert.deepEqual(
          inBodies,
          all.map(({ sessionId }) => sessionId),
        )
        await until('the log lines', () =>
          inBodies.every((id) =>
            service.log.some((line) => line.session_id === id && line.status === status),
          ),
        )

        const { tag } = all[2] ?? assert.fail()
        if (tag === null) return
        const known = await read({ 'if-none-match': tag })
        assert.deepEqual([known.status, known.text, known.tag], [304, '', tag])
      })
    }
  }
})
