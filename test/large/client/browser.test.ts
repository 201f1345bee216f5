/**
 * Tests which errors the client and a plain `fetch` see in a page of another origin. For successful calls from a page,
 * see web-app.test.ts.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scriptedServer } from '../../client/scripted-server.js'
import { inChromium, openPage } from '../../support/chromium.js'
import { ownService } from '../../support/own-service.js'
import { readText } from '../../support/tools.js'

/** The name, status and code of an error, and the length of its session id. */
type Failure = [string, number?, string?, number?]

interface Report {
  errors: Record<'unknown' | 'token' | 'aborted' | 'moved' | 'lost', Failure>
  sent: number
  /** For each response: status, whether a session id is there, `Allow` or else `WWW-Authenticate`, error code. */
  plain: [number, boolean, string | null, string][]
}

const program = `(async (baseUrl, token) => {
  const { ItemStoreClient } = await import('/client.js')
  const failure = (call) => call.then(
    () => ['the call did not fail'],
    ({ name, status, code, sessionId }) => [name, status, code, sessionId?.length],
  )
  const client = new ItemStoreClient({ baseUrl, token })
  const aborted = new AbortController()
  const listing = failure(client.list({ signal: aborted.signal }))
  aborted.abort()

  let sent = 0
  const counting = (url, init) => {
    sent += 1
    return fetch(url, init)
  }
  const at = (baseUrl) => new ItemStoreClient({ baseUrl, token, fetch: counting })
  const errors = {
    unknown: await failure(client.get('unknown')),
    token: await failure(new ItemStoreClient({ baseUrl, token: 'wrong' }).list()),
    aborted: await listing,
    moved: await failure(at('/moved').create({})),
    lost: await failure(at('/lost').create({})),
  }

  const ask = async (path, init) => {
    const response = await fetch(baseUrl + path, init)
    const { headers, status } = response
    const own = headers.get('allow') ?? headers.get('www-authenticate')
    return [status, headers.has('x-session-id'), own, (await response.json()).detail.error_code]
  }
  const authorization = 'Bearer ' + token
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const plain = [
    await ask('/items', { method: 'PATCH', headers: { authorization, traceparent } }),
    await ask('/nothing', { headers: { 'x-own': '1' } }),
    await ask('/items'),
  ]
  return { errors, sent, plain }
})`

test('a page of another origin sees every error', inChromium, async () => {
  const service = await ownService()
  const bundle = readText('dist/client.js')
  const { baseUrl } = await scriptedServer([
    (response, { url, socket }) => {
      if (url === '/') response.setHeader('content-type', 'text/html').end('<!doctype html>')
      else if (url === '/client.js')
        response.setHeader('content-type', 'text/javascript').end(bundle)
      else if (url === '/moved/items') response.writeHead(302, { location: '/' }).end()
      else if (url === '/lost/items') socket.destroy()
      else response.writeHead(404).end()
    },
  ])
  const page = await openPage(new URL('/', baseUrl).href)
  const given = [service.baseUrl.href, service.validToken()]
  const report = await page.evaluate<Report>(`${program}(...${JSON.stringify(given)})`)

  const { unknown, token, aborted, moved, lost } = report.errors
  assert.deepEqual(unknown, ['ItemStoreError', 404, undefined, 36])
  assert.deepEqual(token, ['ItemStoreError', 401, 'INVALID_TOKEN', 36])
  assert.equal(aborted[0], 'AbortError')
  assert.deepEqual([moved[2], lost[2]], ['INVALID_RESPONSE', 'CONNECTION_LOST'])
  assert.equal(report.sent, 1 + 4, 'only the lost create is retried')

  assert.deepEqual(report.plain, [
    [405, true, 'GET, HEAD, POST, OPTIONS', 'METHOD_NOT_ALLOWED'],
    [404, true, null, 'ROUTE_NOT_FOUND'],
    [401, true, 'Bearer', 'MISSING_TOKEN'],
  ])
})
