/** Tests the item store embedded in a program, the way a user's test suite would embed it. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { inspect } from 'node:util'
import type { EmbeddedItemStore, ItemStoreOptions, RequestScope } from '../src/index.js'
import { startItemStore } from '../src/index.js'
import { claimsOf } from './conformance/tokens.js'
import { portInUse } from './support/process.js'
import { openSocket, wholeText } from './support/socket.js'

async function started(options?: ItemStoreOptions): Promise<EmbeddedItemStore> {
  const store = await startItemStore(options)
  after(() => store[Symbol.asyncDispose]())
  return store
}

/** Sends a request such as `GET /items`. A create or replace has a body by default. */
async function request(
  store: EmbeddedItemStore,
  call: string,
  { token = '', body = '{"data":{}}' } = {},
): Promise<Response> {
  const [method = '', path = ''] = call.split(' ')
  const authorization = `Bearer ${token || (await store.token())}`
  const headers = { authorization, 'content-type': 'application/json' }
  const init = /^P/.test(method) ? { method, headers, body } : { method, headers }
  return await fetch(`${store.baseUrl}${path}`, init)
}

/** Sends the head of a request, and the first bytes of its body. */
async function begin(store: EmbeddedItemStore, call: string, body: string, bytes = body.length) {
  const lines = [
    `${call.replace(' ', ' /api/v1')} HTTP/1.1`,
    ...['Host: a', 'Connection: close', `Authorization: Bearer ${await store.token()}`],
    ...['Content-Type: application/json', `Content-Length: ${body.length}`],
  ]
  return openSocket(new URL(store.url), [...lines, '', body.slice(0, bytes)].join('\r\n'))
}

async function create(store: EmbeddedItemStore): Promise<string> {
  return (await store.client().create({ n: 1 })).id
}

async function count(store: EmbeddedItemStore): Promise<number> {
  return (await store.client().list()).length
}

test('a list of failures makes the first requests fail in order, without an effect', async () => {
  const store = await started({ failures: [429, 500, 503, 'cut'] })
  const [id = ''] = await store.seed([{ kept: true }])
  assert.deepEqual(await refusals(store, 3), [
    [429, undefined, '1'],
    [500, 'INTERNAL_ERROR', null],
    [503, 'SERVICE_UNAVAILABLE', '1'],
  ])
  await assert.rejects(request(store, `DELETE /items/${id}`), { name: 'TypeError' })
  assert.equal(await count(store), 1)
})

test('with failure rates of 1, 0 and less than 1, all, none and some of the requests fail', async () => {
  const statusesWith = async (rates: object, many: number) => {
    const store = await started({ failures: rates })
    return (await refusals(store, many)).map(([status]) => status)
  }
  assert.deepEqual(new Set(await statusesWith({ 503: 1 }, 20)), new Set([503]))
  assert.deepEqual(new Set(await statusesWith({ 429: 0, cut: 0 }, 20)), new Set([200]))
  const statuses = await statusesWith({ 429: 0.25, 500: 0.25 }, 400)
  // About 100 responses of each status are expected. The limits are 10 standard deviations away.
  for (const status of [429, 500]) {
    const { length } = statuses.filter((each) => each === status)
    assert.ok(length > 10 && length < 190, `${length} of ${status}`)
  }
  assert.ok(statuses.includes(200))
})

test('fail makes requests of its scope fail until a reset, which restores the initial failures', async () => {
  const store = await started({ failures: [429] })
  const statusesOf = async (...calls: string[]) => {
    const statuses = []
    for (const call of calls) statuses.push((await request(store, call)).status)
    return statuses
  }
  store.fail([503], { method: 'post', path: '/api/v1/items' })
  store.fail({ 500: 1 }, { path: /^\/api\/v1\/items\/[^/]+$/g })
  // The 429 set at startup applies to every method and path.
  assert.deepEqual(await statusesOf('GET /items', 'GET /items'), [429, 200])
  assert.deepEqual(await statusesOf('POST /items', 'POST /items'), [503, 201])
  const ofItem = ['DELETE /items/x', 'GET /items/x', 'PUT /items/x']
  assert.deepEqual(await statusesOf(...ofItem), [500, 500, 500])
  await store.reset()
  assert.deepEqual(await statusesOf('GET /items/x', 'GET /items/x'), [429, 404])
  assert.throws(() => store.fail([404 as 429]), /^UsageError: failures is \[ 404 \]/)
})

const ofItems = ['GET /items', 'GET /items/', 'GET /items?project_id=p']
const ofItem = ['GET /items/x', 'GET /items/s', 'DELETE /items/x', 'DELETE /items/x/']
const matched: [scope: RequestScope | undefined, requests: string[]][] = [
  [undefined, [...ofItems, ...ofItem]],
  [{ path: '/api/v1/items/*' }, ofItem],
  [{ path: '/api/v1/items/:id', method: 'get' }, ['GET /items/x', 'GET /items/s']],
  [{ path: '/api/v1/items/' }, ofItems],
  [{ path: '*s' }, [...ofItems, 'GET /items/s']],
  [{ path: '/a*' }, [...ofItems, ...ofItem]],
  [{ path: '*i*/:v/**s*' }, [...ofItems, ...ofItem]],
  [{ path: '/:any/v1/items/x' }, ['GET /items/x', 'DELETE /items/x', 'DELETE /items/x/']],
  [{ path: /x$/, method: 'DELETE' }, ['DELETE /items/x', 'DELETE /items/x/']],
]
test('a scope has exactly the requests that its path and method match', async () => {
  const store = await started()
  for (const [scope, expected] of matched) {
    await store.reset()
    store.fail({ 500: 1 }, scope)
    for (const call of [...ofItems, ...ofItem]) {
      const { status } = await request(store, call)
      assert.equal(status === 500, expected.includes(call), `${call}, ${inspect(scope)}`)
    }
  }
})

const impossible = [
  ...[null, 7, { route: '/items' }, { method: 1 }, { path: 1 }],
  ...[{ path: '/items' }, { path: '/api/v1/items/a/b' }, { path: '/api/v1/item' }, { path: '' }],
  ...[{ path: '*'.repeat(201) }],
  ...[{ method: 'PATCH' }, { method: 'OPTIONS', path: '*' }, { method: 'PATCH', path: /x/ }],
  ...[
    { method: 'DELETE', path: '/api/v1/items' },
    { method: 'POST', path: '/api/v1/items/:id' },
  ],
] as RequestScope[] // JavaScript callers may pass any value
test('fail and delay refuse scopes that are invalid or match no item request, and say what they expect', async () => {
  const store = await started()
  for (const scope of impossible) {
    const refused = /^UsageError: the scope [\s\S]* fits no item request; expected a method, /
    assert.throws(() => store.fail([503], scope), refused, inspect(scope))
    assert.throws(() => store.delay(1, scope), refused, inspect(scope))
  }
  assert.throws(() => store.delay(-1), /^UsageError: delay is -1; expected milliseconds/)
})

test('requests returns all requests since the last reset but preflights, with recordBodies the text of bodies too', async () => {
  const long = `{"data":{"text":"${'é'.repeat(50_000)}"}}`
  const bodies = ['{"data":{"n":1.0}}', '{"data":', long, long, '{"data":{}}']
  const store = await started({ recordBodies: true })
  const [id = ''] = await store.seed([{}])
  for (const [at, body] of bodies.entries()) {
    if (at === 3) store.fail([503, 'cut'])
    await request(store, `PUT /items/${id}`, { body }).catch(() => undefined)
  }
  const preflight = { 'access-control-request-method': 'PUT', origin: 'http://a.example' }
  await fetch(`${store.baseUrl}/items`, { method: 'OPTIONS', headers: preflight })
  assert.equal((await fetch(`${store.url}/control/reset`, { method: 'POST' })).status, 404)
  const response = await request(store, 'GET /items?token=secret')
  const { session_id } = JSON.parse(await response.text())
  await fetch(`${store.baseUrl}/items`)
  const seen = store.requests().map(({ status, body }) => [status, body])
  const statuses = [200, 422, 200, 503, undefined]
  const withBody = bodies.map((body, at) => [statuses[at], body])
  assert.deepEqual(seen, [...withBody, [200, undefined], [401, undefined]])
  assert.deepEqual(store.requests()[5], {
    ...{ method: 'GET', path: '/api/v1/items', query: 'token=secret', status: 200 },
    ...{ sessionId: session_id, body: undefined },
  })
  await store.reset()
  assert.deepEqual(store.requests(), [])
})

test('delay delays requests of its scope, but no seed, until a reset, at which the delayed ones fail', async () => {
  const later = await started({ delay: { min: 300, max: 301 } })
  const startedAt = performance.now()
  await request(later, 'GET /items')
  assert.ok(performance.now() - startedAt >= 295)
  const store = await started({ delay: 60_000 })
  await store.seed([{}])
  store.delay(0, { method: 'GET' })
  assert.equal(await count(store), 1)
  store.delay({ min: 60_000, max: 60_000 }, { path: '/api/v1/items/:id' })
  const delayed = request(store, 'GET /items/x')
  assert.equal(await count(store), 1)
  await fetch(`${store.baseUrl}/health`) // once it answers, the delayed request has arrived too
  await store.reset()
  assert.equal((await delayed).status, 503)
  store.delay(0)
  assert.deepEqual(store.requests(), [])
  assert.equal((await request(store, 'GET /items/x')).status, 404)
})

test('requests that began before a reset change nothing after it, take no id and are not recorded', async () => {
  const store = await started({ ids: 'a seed' })
  const [first = ''] = await store.seed([{}])
  const body = '{"data":{"from":"the test before"}}'
  const sockets = [
    await begin(store, 'POST /items', body, 9),
    await begin(store, `PUT /items/${first}`, body, 9),
  ]
  const seeding = store.seed(Array.from({ length: 5000 }, () => ({ text: 'x'.repeat(1000) })))
  await fetch(`${store.baseUrl}/health`) // once it answers, the other requests have arrived too
  await store.reset()
  await assert.rejects(seeding, /^StoreError: The store was reset before all items were stored$/)
  const [again] = await store.seed([{ from: 'the next test' }])
  for (const socket of sockets) {
    socket.write(body.slice(9))
    assert.match(await wholeText(socket), /^HTTP\/1\.1 503 .*The store was reset/s)
  }
  assert.equal(again, first)
  const next = await store.seed([{}])
  assert.equal(next[0], (await idsOf('a seed', 2))[1])
  const [kept] = await store.client().list()
  assert.equal(kept?.from, 'the next test')
  assert.equal(
    store
      .requests()
      .map(({ method }) => method)
      .join(),
    'GET',
  )
})

test('a long create during which the store is reset stores nothing, and the next item gets the first id', async () => {
  const [first] = await idsOf('a seed', 1)
  const store = await started({ ids: 'a seed', maxBodyBytes: 2 ** 24 })
  const body = `{"data":{"text":"${'x'.repeat(8_000_000)}"}}`
  let status: number | undefined
  const answered = request(store, 'POST /items', { body }).then((response) => {
    status = response.status
  })
  for (; status === undefined; await nextTurn()) await store.reset()
  await answered
  assert.equal(status, 503)
  assert.deepEqual(await store.seed([{}]), [first])
  assert.equal(await count(store), 1)
})

async function idsOf(ids: string, many: number): Promise<string[]> {
  const store = await started({ ids })
  return await store.seed(Array.from({ length: many }, () => ({})))
}

test('a store that is loaded while fake timers are on does not start, and says so', () => {
  const script = `
    import { mock } from 'node:test'
    mock.timers.enable()
    const { startItemStore } = await import(${JSON.stringify(new URL('../src/index.js', import.meta.url).href)})
    await startItemStore().catch(({ message }) => console.log(message))`
  const args = ['--no-warnings', '--input-type=module', '--eval', script]
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.match(stdout, /^Fake timers were on when item-store was loaded; import item-store before/)
})

test('seedText stores each JSON text unchanged as one item', async () => {
  const store = await started({ ids: 'a seed' })
  const texts = ['{"n":1.10,"big":12345678901234567890}', ' {"data":{},"project_id":"p"}']
  const [first = '', second = ''] = await store.seedText(texts)
  const client = store.client()
  assert.ok((await client.getText(first)).endsWith(`"project_id":null,${texts[0]?.slice(1)}`))
  assert.ok((await client.getText(second)).endsWith('"project_id":"p"}'))
  for (const text of ['{', '[{}]', '', '{}{}}', '{"a":1} {"b":2}', '{}\n{}', '{"a":"\ud800"}']) {
    await assert.rejects(store.seedText(['{}', text]), /^UsageError: item 1 of the seed: /)
  }
  const joined = ['{"a":1},{"b":2', '"c":3}'] // neither is an object, but together they'd be two
  await assert.rejects(
    store.seedText(joined),
    /^UsageError: item 0 of the seed: line 1, column 8: /,
  )
  assert.equal(await count(store), 2)
})

test('a create whose client disconnects during the delay stores no item', async () => {
  let stored = 2
  // On a busy machine, the client may disconnect only after the delay, so each attempt uses a longer one.
  for (let delay = 300; stored > 1 && delay < 10_000; delay *= 4) {
    const store = await started({ delay })
    const socket = await begin(store, 'POST /items', '{"data":{}}')
    await fetch(`${store.baseUrl}/health`) // once it answers, the create has arrived too
    socket.resetAndDestroy()
    await create(store) // the delay of this create ends later
    stored = await count(store)
  }
  assert.equal(stored, 1)
})

test('with the option ids, the ids of items are predictable, and repeat after a reset', async () => {
  const idsIn = async (store: EmbeddedItemStore) => [
    ...(await store.seed([{ a: 1 }, { a: 2 }])),
    await create(store),
    await create(store),
    (await store.client().create({ a: 4 }, { idempotencyKey: 'one' })).id,
  ]
  const one = await started({ ids: 'a seed' })
  const ids = await idsIn(one)
  assert.equal(new Set(ids).size, 5)
  assert.equal(ids[0], 'eb13645b-f599-5584-aeb7-c490f4f2891f') // users may rely on this id, so it must not change
  assert.deepEqual(await idsIn(await started({ ids: 'a seed' })), ids)
  assert.notDeepEqual(await idsIn(await started({ ids: 'another' })), ids)
  await one.reset()
  assert.deepEqual(await idsIn(one), ids)
})

test('with the option ids, a refused create uses no id, and a repeated create gets the same id', async () => {
  const store = await started({ ids: 'a seed' })
  const other = await started({ ids: 'a seed' })
  assert.equal((await request(store, 'POST /items', { body: '{' })).status, 422)
  const client = store.client()
  const first = await client.create({}, { idempotencyKey: 'one' })
  assert.deepEqual(await client.create({}, { idempotencyKey: 'one' }), first)
  const { id } = await client.create({})
  assert.deepEqual([first.id, id], await other.seed([{}, {}]))
})

async function refusals(store: EmbeddedItemStore, many: number) {
  const answers: [status: number, code: string | undefined, retryAfter: string | null][] = []
  for (let at = 0; at < many; at += 1) {
    const response = await request(store, 'GET /items')
    const { detail } = JSON.parse(await response.text())
    answers.push([response.status, detail?.error_code, response.headers.get('Retry-After')])
    if (response.status >= 400) assert.match(detail.session_id, /^[0-9a-f-]{36}$/)
  }
  return answers
}

test('several stores have their own items, and their own secrets unless the same secret is given', async () => {
  const secret = 'a secret of at least thirty-two bytes'
  const given = [undefined, undefined, secret, secret].map((secret) => started({ secret }))
  const [one, other, same, equal] = await Promise.all(given)
  assert.ok(one && other && same && equal)
  await create(one)
  assert.equal(await count(one), 1)
  assert.equal(await count(other), 0)
  const statusOf = async (at: EmbeddedItemStore, from: EmbeddedItemStore) =>
    (await request(at, 'GET /items', { token: await from.token() })).status
  assert.deepEqual([await statusOf(other, one), await statusOf(equal, same)], [401, 200])
})

test('an embedded store neither reads nor changes the environment', async (t) => {
  const before = process.env
  process.env = { ...before, JWT_SECRET: 'x', JWT_ALGORITHM: 'none', PORT: 'nonsense' }
  t.after(() => {
    process.env = before
  })
  const given = { ...process.env }
  await create(await started())
  assert.deepEqual({ ...process.env }, given)
})

test('a token has the requested caller and lifetime', async () => {
  const store = await started()
  const token = await store.token({ sub: 'alice', expires: '90s' })
  const { sub, iat, exp } = claimsOf(token)
  assert.deepEqual({ sub, lifetime: exp - iat }, { sub: 'alice', lifetime: 90 })
  const expired = { token: await store.token({ expires: '-1s' }) }
  assert.match(await (await request(store, 'GET /items', expired)).text(), /"TOKEN_EXPIRED"/)
  await assert.rejects(store.token({ sub: 5 as never }), /^UsageError: sub is 5; expected text$/)
  for (const expires of ['', '0s', '90', 'soon']) {
    await assert.rejects(store.token({ expires }), /^UsageError: expires is .*; expected a time/)
  }
})

test('§5.5 a secret function is called for each verification and for each new token', async () => {
  const given: { secret?: unknown } = {}
  const store = await started({ secret: () => given.secret as string | undefined }) // JavaScript callers may return anything
  const status = async (token: string) => (await request(store, 'GET /items', { token })).status
  for (const unusable of [undefined, '', null, 7, '\ud800']) {
    given.secret = unusable
    assert.equal(await status('a token'), 503)
    const health = await fetch(`${store.baseUrl}/health`)
    const { unhealthy_subsystems: names } = JSON.parse(await health.text())
    assert.deepEqual([health.status, names], [503, ['auth']])
    await assert.rejects(store.token(), /at present, secret must be text that is not empty/)
  }
  given.secret = 'first'
  const first = await store.token()
  assert.equal(await status(first), 200)
  given.secret = 'second'
  assert.equal(await status(first), 401)
  const client = store.client()
  assert.deepEqual(await client.list(), [])
  given.secret = 'first'
  assert.equal(await status(first), 200)
})

test('seed stores all given items and item requests, or none of them', async () => {
  const store = await started()
  const ids = await store.seed([
    { name: 'Ladder', project_id: 'p' },
    { data: { name: 'Lamp' }, project_id: 'q' },
    { data: 1, name: 'not a request' },
  ])
  const client = store.client<{ name: string; data?: number }>()
  const items = await Promise.all(ids.map((id) => client.get(id)))
  const shown = items.map(({ name, project_id }) => `${name}, ${project_id}`)
  assert.deepEqual(shown, ['Ladder, p', 'Lamp, q', 'not a request, null'])
  const kept = { name: 'kept?' }
  const cyclic: { self?: object } = {}
  cyclic.self = cyclic
  for (const wrong of [[], { project_id: 7 }, cyclic, { toJSON: () => [{}, {}] }, null, () => 0]) {
    const seed = [kept, wrong] as object[] // JavaScript callers may pass any value
    await assert.rejects(store.seed(seed), /^UsageError: item 1 of the seed: /)
  }
  await assert.rejects(store.seed('abc' as never), /^UsageError: the seed is not an array$/)
  assert.equal(await count(store), 3)
})

test('the options of client apply to its token', async () => {
  const store = await started()
  await assert.rejects(store.client({ expires: 'soon' }).list(), /expires is "soon"/)
})

test('an option that is undefined has the default of the embedded store', async () => {
  const { url } = await started({ port: undefined, host: undefined, secret: undefined })
  assert.match(url, /^http:\/\/127\.0\.0\.1:(?!8000$)/) // `item-store serve` listens at port 8000 of all addresses
})

const secrets = ['', '\ud800', 123].map((secret) => ({ secret }))
const delays = [{ min: 2, max: 1 }, null].map((delay) => ({ delay }))
const failures = [
  null,
  [404],
  { 404: 0.5 },
  { 503: '0.5' },
  { 503: 2 },
  { 503: 0.6, cut: 0.6 },
].map((failures) => ({ failures }))
const unusable: [says: RegExp, ...options: object[]][] = [
  [/port is "70000"; expected a whole number/, { port: 70_000 }],
  [/maxBodyBytes is "-1"; expected a size/, { maxBodyBytes: -1 }],
  [/unknown option prot, logLevel$/, { prot: 1, logLevel: 'info' }],
  [/secret must be text that is not empty/, ...secrets],
  [/maxStoreBytes \(\d+\) must be less than maxMemoryBytes \(.* by/, { maxStoreBytes: 2 ** 50 }],
  [/delay is -1; expected milliseconds/, { delay: -1 }],
  [/delay is (\{ min: 2, max: 1 \}|null); expected/, ...delays],
  [/failures is .*; expected a list such as/, ...failures],
]
test('startItemStore refuses unusable options with a reason', async () => {
  for (const [says, ...all] of unusable) {
    for (const options of all) {
      const message = new RegExp(`^UsageError: ${says.source}`)
      const given = options as ItemStoreOptions // JavaScript callers may pass any value
      await assert.rejects(started(given), message, inspect(options))
    }
  }
})

test('startItemStore rejects with EADDRINUSE if the port is in use', async () => {
  const port = await portInUse()
  await assert.rejects(started({ port }), { code: 'EADDRINUSE', port })
})

test('after stop, the methods stop, seed and reset reject, but disposal succeeds', async () => {
  const store = await startItemStore()
  await store.stop()
  await assert.rejects(fetch(store.url))
  const stopped = /^Error: this item store is already stopped$/
  await assert.rejects(store.stop(), stopped)
  await assert.rejects(store.seed([{}]), stopped)
  await assert.rejects(store.reset(), stopped)
  await store[Symbol.asyncDispose]()
})

test('stop releases all resources, so that the program can end', async () => {
  const kinds = () =>
    process
      .getActiveResourcesInfo()
      .filter((kind) => kind !== 'Immediate')
      .sort()
  const warm = await startItemStore()
  await create(warm)
  await warm.stop()
  const before = kinds()
  const store = await startItemStore()
  await create(store)
  await store.reset()
  await store.stop()
  assert.deepEqual(kinds(), before)
})

test('an embedded store refuses no request, however much memory its program uses', async (t) => {
  t.mock.method(process.memoryUsage, 'rss', () => 2 ** 50)
  await create(await started())
})
