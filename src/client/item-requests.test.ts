import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ItemRequests } from './item-requests.js'
import { ItemStoreError } from './item-store-error.js'
import { TextResponse } from './item-texts.js'
import { checkedOptions, createSender, type Send } from './sender.js'

const options = checkedOptions({ baseUrl: 'http://a/api/v1', token: 'a' })

/** Records pauses instead of waiting. With `random`, they're as short as possible. */
function recordPauses(context: TestContext, random?: () => 0): number[] {
  if (random !== undefined) context.mock.method(Math, 'random', random)
  const pauses: number[] = []
  context.mock.method(globalThis, 'setTimeout', (end: () => void, time: number) => {
    pauses.push(time)
    setImmediate(end)
  })
  return pauses
}

async function* whole(text: string): AsyncGenerator<string, void, void> {
  yield text
}

const waited = { 'preference-applied': 'wait=20' }
const [same, next] = [{ etag: '"1"' }, { etag: '"2"' }]
const lost = new ItemStoreError('lost', { code: 'CONNECTION_LOST' })
const late = new ItemStoreError('late', { code: 'TIMEOUT' })
const headers = { 'retry-after': '9'.repeat(30) }
const overloaded = new ItemStoreError('later', {
  response: new Response('', { status: 503, headers }),
})
const watches: [title: string, steps: (HeadersInit | ItemStoreError)[], pauses: number[]][] = [
  [
    'for long after an immediate response without a change, otherwise for 100 ms',
    [same, { ...same, ...waited }, { ...same, ...waited }, same, next, { etag: '"3"', ...waited }],
    [100, 100, 100, 2500, 100, 100],
  ],
  ['for long after a second response without a tag', [{}, {}], [100, 2500]],
  [
    'longer after each failure',
    [same, lost, late, lost, next, lost],
    [100, 100, 200, 400, 100, 100],
  ],
  ['no longer than a timer can run', [same, overloaded], [100, 2e9]],
]
for (const [title, steps, pauses] of watches) {
  test(`a watch pauses ${title}`, async (t) => {
    const times = recordPauses(t, () => 0)
    const rest = [...steps]
    const send: Send = async (_request, _options, read) => {
      const step = rest.shift() ?? new Error('no more responses')
      if (step instanceof Error) throw step
      return await read(new TextResponse(new Response(null, { headers: step }), whole('')))
    }
    const states = new ItemRequests(send, options).watch('/items', {}, async () => undefined)
    await assert.rejects(states.next(), { message: 'no more responses' })
    assert.deepEqual(times, pauses)
  })
}

test('a watch repeats a failed request itself, so that the sender does not multiply its requests', async (t) => {
  const pauses = recordPauses(t, () => 0)
  const statuses = [200, 503, 503, 503, 503, 503, 500, 401]
  const fetch = async () => {
    const status = statuses.shift() ?? assert.fail()
    const error = { detail: 'no', error_code: 'SERVICE_UNAVAILABLE' }
    return new Response(JSON.stringify({ detail: error }), { status, headers: same })
  }
  const sender = createSender({ ...options, fetch }, 'a')
  const states = new ItemRequests(sender, options).watch('/items', {}, async () => undefined)
  await assert.rejects(states.next(), { status: 401 })
  const own = pauses.filter((time) => time !== options.timeout)
  assert.deepEqual(own, [100, 100, 200, 400, 800, 1600, 2500])
})

const conflict = new ItemStoreError('changed', { code: 'PRECONDITION_FAILED' })

async function updateWith(conflicts: number): Promise<{ result: unknown; replaces: number }> {
  let replaces = 0
  const send: Send = async ({ method }, _options, read) => {
    if (method === 'PUT') {
      replaces += 1
      if (replaces <= conflicts) throw conflict
    }
    const head = new Response(null, { headers: { etag: '"1"' } })
    return await read(new TextResponse(head, whole('{"data":{"id":"1"}}')))
  }
  const update = new ItemRequests(send, options).update('1', () => '{}', String)
  const result = await update.then(({ text }) => text, String)
  return { result, replaces }
}

test('an update starts over after each conflict, and gives up after 100', async (t) => {
  recordPauses(t)
  assert.deepEqual(await updateWith(99), { result: '{"id":"1"}', replaces: 100 })
  assert.deepEqual(await updateWith(100), { result: String(conflict), replaces: 100 })
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
