/** Tests that repeated plain `fetch` calls never get a response from the browser's cache. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { scriptedServer } from '../../client/scripted-server.js'
import { create } from '../../conformance/expect.js'
import { inChromium, useBrowser } from '../../support/chromium.js'
import { ownService } from '../../support/own-service.js'

interface Got {
  readonly status: number
  readonly text: string
  readonly sessionId: string
  readonly tag: string | null
}

const newContext = useBrowser()

describe('§1.4 each response to a page has a session_id of its own', inChromium, async () => {
  const service = await ownService()
  const elsewhere = await scriptedServer([
    (response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'),
  ])
  const { id } = await create(service, { state: 'first' })
  for (const [where, address] of [
    ['the same origin', `${service.baseUrl.origin}/docs`],
    ['another origin', elsewhere.baseUrl],
  ] as const) {
    for (const path of ['/items/{id}', '/items', '/health', '/nothing']) {
      test(`GET ${path}, three times from a page of ${where}`, async () => {
        const page = await (await newContext()).newPage()
        await page.goto(address)
        const authorization = `Bearer ${service.validToken()}`
        const read = (others = {}) =>
          page.evaluate<Got>(`(async () => {
            const headers = ${JSON.stringify({ authorization, ...others })}
            const response = await fetch('${service.baseUrl.href}${path.replace('{id}', id)}', { headers })
            const { status } = response
            const [sessionId, tag] = ['x-session-id', 'etag'].map((name) => response.headers.get(name))
            return { status, text: await response.text(), sessionId, tag }
          })()`)

        const all = [await read(), await read(), await read()]
        assert.equal(new Set(all.map(({ sessionId }) => sessionId)).size, 3)
        for (const { text, sessionId } of all) {
          assert.ok(text.includes(`"session_id":"${sessionId}"`), text)
        }

        const [{ tag } = assert.fail()] = all
        if (tag === null) return
        const known = await read({ 'if-none-match': tag })
        assert.deepEqual([known.status, known.text, known.tag], [304, '', tag])
      })
    }
  }
})
