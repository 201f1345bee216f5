/** Tests how long the client pauses between the requests of a watch or an update. No test waits for a pause. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ItemStoreClient } from '../../src/client/client.js'
import { errorOf } from './scripted-server.js'

const timeout = 30_000

/** Records pauses, and ends them at once. With `random`, they're as short as possible. */
function recordPauses(context: TestContext, random?: () => 0): number[] {
  if (random !== undefined) context.mock.method(Math, 'random', random)
  const pauses: number[] = []
  context.mock.method(globalThis, 'setTimeout', (end: () => void, time: number) => {
    if (time === timeout) return // ends no request early
    pauses.push(time)
    setImmediate(end)
  })
  return pauses
}

/** Returns a client for a service that gives the response of `respond`, or loses the connection. */
function clientOf(respond: (method: string) => Response | undefined) {
  const fetch = async (_url: string, { method }: { readonly method: string }) =>
    respond(method) ?? Promise.reject(new TypeError('fetch failed'))
  return new ItemStoreClient({ baseUrl: 'http://a/api/v1', token: 'a', timeout, fetch })
}

function failed(status: number, error_code: string, headers: HeadersInit = {}): Response {
  const body = JSON.stringify({ detail: { detail: 'no', error_code } })
  return new Response(body, { status, headers })
}

const list = (headers: HeadersInit) => () => new Response('{"data":[]}', { headers })
const waited = { 'preference-applied': 'wait=20' }
const [same, next] = [{ etag: '"1"' }, { etag: '"2"' }]
const lost = () => undefined
const unavailable = () => failed(503, 'SERVICE_UNAVAILABLE')
const overloaded = () => failed(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '9'.repeat(30) })
const broken = () => failed(500, 'INTERNAL_ERROR')

type Steps = (() => Response | undefined)[]
const watches: [title: string, steps: Steps, pauses: number[]][] = [
  [
    'for long after an immediate response without a change, otherwise for 100 ms',
    [{}, waited, waited, {}]
      .map((headers) => list({ ...same, ...headers }))
      .concat(list(next), list({ etag: '"3"', ...waited })),
    [100, 100, 100, 2500, 100, 100],
  ],
  ['for long after a second response without a tag', [list({}), list({})], [100, 2500]],
  [
    'longer after each failure',
    [list(same), lost, broken, lost, list(next), lost],
    [100, 100, 200, 400, 100, 100],
  ],
  [
    'after failures that it alone repeats: otherwise, the retries would multiply',
    [list(same), ...Array(5).fill(unavailable), broken],
    [100, 100, 200, 400, 800, 1600, 2500],
  ],
  ['no longer than a timer can run', [list(same), overloaded], [100, 2e9]],
]
for (const [title, steps, expected] of watches) {
  test(`a watch pauses ${title}`, async (t) => {
    const pauses = recordPauses(t, () => 0)
    const rest = [...steps, () => failed(401, 'INVALID_TOKEN')]
    const client = clientOf(() => rest.shift()?.())
    const watching = async () => {
      for await (const _ of client.watch());
    }
    assert.equal((await errorOf(watching())).status, 401)
    assert.deepEqual(pauses, expected)
  })
}

/** Updates an item, while other clients change it in the given number of attempts. */
async function updateWith(conflicts: number): Promise<{ result: unknown; replaces: number }> {
  let replaces = 0
  const client = clientOf((method) => {
    if (method === 'PUT') replaces += 1
    return method === 'PUT' && replaces <= conflicts
      ? failed(412, 'PRECONDITION_FAILED')
      : new Response('{"data":{"id":"1"}}', { headers: same })
  })
  const result = await client.updateText('1', () => '{}').catch(({ code }) => code)
  return { result, replaces }
}

test('an update starts over after each conflict, and gives up after 100', async (t) => {
  recordPauses(t)
  assert.deepEqual(await updateWith(99), { result: '{"id":"1"}', replaces: 100 })
  assert.deepEqual(await updateWith(100), { result: 'PRECONDITION_FAILED', replaces: 100 })
})

test('the pauses between attempts of an update are random, and grow to at most half a second', async (t) => {
  const pauses = recordPauses(t)
  for (let n = 0; n < 20; n += 1) await updateWith(20)
  const first = pauses.filter((_, place) => place % 20 === 0)
  const last = pauses.filter((_, place) => place % 20 === 19)
  assert.ok(Math.max(...first) <= 40, String(first))
  assert.ok(Math.max(...last) > 250 && Math.max(...last) <= 500, String(last))
  assert.equal(new Set(pauses).size, pauses.length)
})
