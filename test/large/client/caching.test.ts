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
  readonly tag: string | null
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
    { what: 'an item', path: `/items/${id}`, status: 200 },
    { what: 'the list', path: '/items', status: 200 },
    { what: 'the health check', path: '/health', status: 200 },
    { what: 'the error of an unknown path', path: '/nothing', status: 404 },
  ]
  for (const { where, page: address } of pages) {
    for (const { what, path, status } of targets) {
      test(`${what}, three times from a page of ${where}`, async () => {
        const page = await (await newContext()).newPage()
        await page.goto(address)
        const read = (headers: object = {}) =>
          page.evaluate<Got>(`(async () => {
            const authorization = 'Bearer ${service.validToken()}'
            const headers = { authorization, ...${JSON.stringify(headers)} }
            const response = await fetch('${service.baseUrl.href}${path}', { headers })
            const { status } = response
            const [sessionId, tag] = ['x-session-id', 'etag'].map((name) => response.headers.get(name))
            return { status, text: await response.text(), sessionId, tag }
          })()`)

        const all = [await read(), await read(), await read()]
        for (const { text, sessionId, status: received } of all) {
          assert.equal(received, status)
          assert.ok(text.includes(`"session_id":"${sessionId}"`), text)
          await until('the log line', () =>
            service.log.some((line) => line.session_id === sessionId && line.status === status),
          )
        }
        assert.equal(new Set(all.map(({ sessionId }) => sessionId)).size, 3)

        const [{ tag } = assert.fail()] = all
        if (tag === null) return
        const known = await read({ 'if-none-match': tag })
        assert.deepEqual([known.status, known.text, known.tag], [304, '', tag])
      })
    }
  }
})
