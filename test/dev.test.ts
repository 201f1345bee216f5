/** Tests of `item-store dev`: output, seeds, delays, failures, control, and tokens that stay valid after a restart. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { claimsOf } from './conformance/tokens.js'
import { cli, ownService, runCommand, startCommand } from './support/own-service.js'
import { portInUse } from './support/process.js'
import { describeWithRedis, startedRedis } from './support/redis.js'
import { cleanEnvironment, emptyFolder, readText } from './support/tools.js'

const folder = emptyFolder()
const env = cleanEnvironment()

function fileWith(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return name
}

async function startDev(...args: string[]) {
  const own = startCommand(['dev', '--port', '0', '--host', '127.0.0.1', ...args], {}, folder)
  const printed = await own.printed(/\ncurl [^\n]+Authorization[^\n]+\n\n$/)
  const token = /^TOKEN=(.+)$/m.exec(printed)?.[1] ?? ''
  const baseUrl = /^ +interface +(\S+)$/m.exec(printed)?.[1] ?? ''
  async function ask(path: string, init: RequestInit = {}): Promise<string> {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const signal = AbortSignal.timeout(300_000)
    const response = await fetch(baseUrl + path, { headers, signal, ...init })
    return await response.text()
  }
  return { ...own, text: printed, token, baseUrl, ask }
}

/** Starts `dev --json`. The returned `call` sends a request, and resolves to the response's status and text. */
async function startJson(variables: NodeJS.ProcessEnv = {}, ...args: string[]) {
  const own = startCommand(['dev', '--json', '--port', '0', ...args], variables, folder)
  const [line = ''] = (await own.printed(/^.*\n/)).split('\n')
  const started: { url: string; base_url: string; token: string; secret: string } = JSON.parse(line)
  const headers = { Authorization: `Bearer ${started.token}`, 'Content-Type': 'application/json' }
  async function call(request: string, body?: string, authorization = headers.Authorization) {
    const [method = '', path = ''] = request.split(' ')
    const init = { method, headers: { ...headers, Authorization: authorization } }
    const response = await fetch(started.url + path, body === undefined ? init : { ...init, body })
    return [response.status, await response.text()] as const
  }
  return { ...own, started, call }
}

function errorOfDev(...args: string[]): string {
  const { status, stdout, stderr } = runCommand(['dev', '--port', '0', ...args], {}, folder)
  assert.deepEqual([status, stdout], [2, ''])
  return /^item-store: (.*)\n$/.exec(stderr)?.[1] ?? assert.fail(stderr)
}

function itemsIn(list: string): string[] {
  const { data }: { data: unknown[] } = JSON.parse(list)
  const texts = list.slice(list.indexOf('"data":[') + 8, -2).split(/(?<=\}),(?=\{"id":")/)
  assert.equal(texts.filter((text) => text !== '').length, data.length)
  return texts.map((text) => text.replace(/^\{"id":"[0-9a-f-]{36}",/, '{'))
}

test('dev prints where items are kept and the page URLs with the token, and does not log the token', async () => {
  const { ask, baseUrl, printed, text, token } = await startDev()
  const { origin } = new URL(baseUrl)
  assert.match(text, /^ +items +lost when the service stops$/m)
  const [, items] = /^ +items page +(\S+)$/m.exec(text) ?? []
  const [, docs] = /^ +API page +(\S+)$/m.exec(text) ?? []
  assert.deepEqual([items, docs], [`${origin}/#token=${token}`, `${origin}/docs#token=${token}`])
  for (const address of [items, docs]) assert.equal((await fetch(String(address))).status, 200)
  const [, agents = ''] = /^ +agents +(\S+) \(Model Context Protocol\)$/m.exec(text) ?? []
  assert.equal(agents, `${origin}/mcp`)
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  assert.match(await ask('/../../mcp', { method: 'POST', body }), /"result":\{\}/)
  await ask('/items')
  const log = (await printed(/ \/api\/v1\/items /)).slice(text.length)
  assert.match(log, / \/docs /)
  assert.ok(!log.includes(token), log)
})

for (const [HOST, host] of Object.entries({ '': '127.0.0.1', '0.0.0.0': 'localhost' })) {
  test(`dev with HOST=${HOST} listens on ${host}`, async () => {
    const text = await startCommand(['dev', '--port', '0'], { HOST }).printed(/^ +interface .*\n/m)
    assert.equal(new URL(/interface +(\S+)/.exec(text)?.[1] ?? '').hostname, host)
  })
}

test('dev prints no URL of a page that is turned off', async () => {
  const { baseUrl, text } = await startDev('--console', 'off', '--docs', 'off', '--mcp', 'off')
  assert.doesNotMatch(text, /page|#token|agents/)
  assert.equal((await fetch(new URL('/', baseUrl))).status, 404)
})

test('dev --seed stores the example of docs/how-to/dev.md byte for byte and in order', async () => {
  const [, seed = ''] = /```json\n(.*?)```/s.exec(readText('docs/how-to/dev.md')) ?? []
  const { ask, text } = await startDev('--seed', fileWith('docs.json', seed))
  assert.match(text, /2 items from docs\.json/)
  assert.deepEqual(itemsIn(await ask('/items')), [
    '{"project_id":"demo","title": "first", "price": 1.0}',
    '{"project_id":null,"title": "second", "big": 12345678901234567890}',
  ])
})

test('dev --seed reports malformed JSON with line and column, a missing file, and a full store', () => {
  const bad = fileWith('bad.json', '[\n  {"a": 1},\n  {"b": }\n]')
  assert.equal(errorOfDev('--seed', bad), 'bad.json: line 3, column 9: expected a value')
  const missing = "ENOENT: no such file or directory, open 'none.json'"
  assert.equal(errorOfDev('--seed', 'none.json'), `the seed none.json cannot be read: ${missing}`)
  const many = fileWith('many.jsonl', '{"a":"xxxxxxxxxx"}\n'.repeat(100))
  const full = 'The store is full: it may hold 5000 bytes'
  const error = errorOfDev('--seed', many, '--max-store-bytes', '5kB')
  assert.equal(error, `the seed cannot be stored completely: ${full}`)
})

describeWithRedis('dev --seed with STORE_URL', () => {
  test('fills an empty store, and does not change a store with items', async () => {
    const redis = await startedRedis()
    const args = ['--store-url', redis.url, '--seed', fileWith('once.jsonl', '{"n":1}\n{"n":2}\n')]
    const first = await startDev(...args)
    assert.match(first.text, / seed +2 items from once\.jsonl\n/)
    first.child.kill('SIGTERM')
    await first.ended()
    const second = await startDev(...args)
    assert.match(second.text, / seed +not stored, since the store already has items\n/)
    assert.equal(itemsIn(await second.ask('/items')).length, 2)
  })

  test('control seeds, but refuses to remove the items of other services', async () => {
    const redis = await startedRedis()
    const { call } = await startJson({ STORE_URL: redis.url })
    assert.equal((await call('POST /control/seed', '{"n":1.0}'))[0], 201)
    const [status, text] = await call('POST /control/reset')
    assert.match(`${status} ${text}`, /^409 .*STORE_URL.*"error_code":"SHARED_STORE"/)
    assert.equal(itemsIn((await call('GET /api/v1/items'))[1]).length, 1)
  })
})

test('dev --delay does not delay health checks and refused requests, and a stop ends the delay', async () => {
  // Even on a busy machine, the whole test takes much less than the delay of 60 s.
  const { ask, baseUrl, child, ended } = await startDev('--delay=60s', '--shutdown-timeout=50')
  let isAnswered = false
  const noteAnswer = () => {
    isAnswered = true
  }
  const waiting = ask('/items').then(noteAnswer, () => undefined)
  assert.equal((await fetch(`${baseUrl}/health`)).status, 200)
  assert.equal((await fetch(`${baseUrl}/items`)).status, 401)
  assert.equal(isAnswered, false)
  const gone = ask('/items', { signal: AbortSignal.timeout(1000) })
  await assert.rejects(gone, { name: 'TimeoutError' })
  child.kill('SIGTERM')
  assert.deepEqual(await ended(), [0, null])
  await waiting
  assert.equal(isAnswered, true)
})

test('with a JWT_SECRET in .env, the token of dev is valid for 24 hours, even after a restart', async () => {
  fileWith('.env', 'JWT_SECRET=a secret of at least thirty-two bytes\n')
  const first = await startDev()
  const { iat, exp } = claimsOf(first.token)
  assert.equal(exp - iat, 24 * 3600)
  const until = new Date(exp * 1000).toISOString().slice(0, 16).replace('T', ' ')
  assert.ok(first.text.includes(`valid for 24 hours, until ${until} UTC`), first.text)
  first.child.kill('SIGTERM')
  assert.deepEqual(await first.ended(), [0, null])

  const { baseUrl } = await startDev()
  const headers = { Authorization: `Bearer ${first.token}` }
  assert.equal((await fetch(`${baseUrl}/items`, { headers })).status, 200)
  fileWith('.env', '')
})

for (const [variables, secret, lines] of [
  [{ LOG_LEVEL: 'silent' }, 'generated', []],
  [
    { JWT_SECRET: 'a secret of at least thirty-two bytes' },
    'configured',
    ['listening', 'answered', 'SIGTERM:'],
  ],
  // The service logs that it can't reach its store even before it listens.
  [
    { STORE_URL: 'redis://127.0.0.1:1', LOG_LEVEL: 'warn', STORE_TIMEOUT: '10' },
    'generated',
    ['the', 'The'],
  ],
] as const) {
  test(`dev --json prints an object first, and then the log: ${JSON.stringify(variables)}`, async () => {
    const { call, child, ended, printed, started } = await startJson(variables)
    const { url, base_url, ...others } = started
    assert.deepEqual(Object.keys(others), ['token', 'secret'])
    assert.deepEqual([base_url, others.secret], [`${url}/api/v1`, secret])
    const [status] = await call('GET /api/v1/items')
    assert.equal(status, 'STORE_URL' in variables ? 503 : 200)
    child.kill('SIGTERM')
    assert.deepEqual(await ended(), [0, null])
    const printedLines = (await printed(/^/)).trimEnd().split('\n').slice(1)
    const words = printedLines.map((line) => JSON.parse(line).msg.split(' ', 1)[0])
    assert.deepEqual([...new Set(words)], lines) // a busy machine logs some lines more than once
  })
}

test('dev --json that cannot start prints one line on stderr and nothing else', async () => {
  const missing = errorOfDev('--json', '--seed', 'none.json')
  assert.match(missing, /^the seed none\.json cannot be read/)
  const port = String(await portInUse())
  assert.match(errorOfDev('--json', '--port', port), /^port \d+ is in use/)
})

test('dev --stdin-quit serves until its standard input ends', async () => {
  const args = [cli, 'dev', '--json', '--stdin-quit', '--port', '0']
  const stdio = ['pipe', 'pipe', 'inherit'] as const
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: [...stdio] })
  after(() => child.kill('SIGKILL'))
  const [first] = await once(child.stdout, 'data')
  const { base_url } = JSON.parse(String(first).split('\n', 1)[0] ?? '')
  assert.equal((await fetch(`${base_url}/health`)).status, 200)
  child.stdin.end()
  assert.deepEqual(await once(child, 'exit'), [0, null])
})

test('dev --stdin-quit that cannot start ends while its standard input is open', async () => {
  const args = [cli, 'dev', '--stdin-quit', '--port', String(await portInUse())]
  const stdio = ['pipe', 'ignore', 'ignore'] as const
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: [...stdio] })
  after(() => child.kill('SIGKILL'))
  const signal = AbortSignal.timeout(60_000)
  assert.deepEqual(await once(child, 'exit', { signal }), [2, null])
})

const failures = /failures is .*; expected a list such as \[503, \\"cut\\"\]/
const wrong: [request: string, body: string | undefined, status: number, says: RegExp][] = [
  ['POST /control/seed', '[{"a":1},{"b":}]', 422, /"item 1, line 1, column 15: expected a value"/],
  ['POST /control/seed', '{"data":7}', 422, /item 0, line 1, column 1: .*data must be an object/],
  ['POST /control/seed', '', 422, /item 0, line 1, column 1: expected an object/],
  ['POST /control/seed', '{}'.repeat(10_001), 422, /item 10000, .*: more than 10000 items/],
  ['POST /control/failures', '{"failures":[404]}', 422, failures],
  ['POST /control/failures', '{}', 422, /failures is undefined/],
  [
    'POST /control/failures',
    '{"failures":[503],"metod":"GET"}',
    422,
    /metod.* fits no item request/,
  ],
  ['POST /control/failures', '{"failures":[503]', 422, /line 1, column 18: expected a comma or/],
  ['POST /control/failures', '[]', 422, /is not one JSON object/],
  ['POST /control/failures', '{} {}', 422, /is not one JSON object/],
  ['POST /control/failures', `{"failures":[${' '.repeat(16_384)}]}`, 422, /of up to 16384 bytes/],
  ['POST /control/delay', '{"min":5}', 422, /delay is .* min: 5.*; expected milliseconds/],
  ['PUT /control/seed', '[]', 405, /METHOD_NOT_ALLOWED/],
  ['POST /control/requests', '', 405, /METHOD_NOT_ALLOWED/],
  ['POST /control/other', '', 404, /ROUTE_NOT_FOUND/],
]

test('a wrong control request changes nothing, and says what is wrong and where', async () => {
  const { call, started } = await startJson()
  for (const [request, body, status, says] of wrong) {
    const [given, text] = await call(request, body)
    assert.equal(given, status, `${request} ${body?.slice(0, 40)}: ${text}`)
    assert.match(text, says)
    const { detail } = JSON.parse(text)
    assert.deepEqual(Object.keys(detail), ['detail', 'session_id', 'error_code'])
  }
  assert.match((await call('POST /control/reset', '', 'none'))[1], /MISSING_TOKEN/)
  const preflight = { 'Access-Control-Request-Method': 'POST', Origin: 'http://a.example' }
  const allowed = await fetch(`${started.url}/control/reset`, {
    ...{ method: 'OPTIONS', headers: preflight },
  })
  assert.equal(allowed.headers.get('Access-Control-Allow-Origin'), '*')
  assert.match((await call('GET /api/v1/items'))[1], /"data":\[\]/)
  const serving = await ownService()
  assert.equal((await fetch(new URL('/control/reset', serving.baseUrl))).status, 404)
})

test('failures whose request began before a reset are not set after it', async () => {
  const { call, started } = await startJson()
  const headers = { Authorization: `Bearer ${started.token}`, Expect: '100-continue' }
  const setting = request(`${started.url}/control/failures`, { method: 'POST', headers })
  await once(setting, 'continue')
  assert.equal((await call('POST /control/reset'))[0], 204)
  setting.end('{"failures":[503]}')
  const [response] = await once(setting, 'response')
  assert.equal(response.resume().statusCode, 503)
  assert.equal((await call('GET /api/v1/items'))[0], 200)
})

test('control seeds, breaks, records and resets the store, and records none of its own requests', async () => {
  const { call } = await startJson({}, '--failures', '429')
  const post = async (name: string, body = '') => (await call(`POST /control/${name}`, body))[0]
  const seed =
    '\ufeff{"n":1.0,"big":12345678901234567890}\n{"data":{"__proto__":1},"project_id":"p"}'
  const [status, text] = await call('POST /control/seed', seed)
  const { ids, session_id }: { ids: string[]; session_id: string } = JSON.parse(text)
  assert.deepEqual([status, ids.length, session_id.length], [201, 2, 36])
  assert.equal(await post('failures', '{"failures":["cut"],"method":"DELETE"}'), 204)
  assert.equal(
    await post('failures', '{"failures":{"500":1},"method":"GET","path":"*/items/:id"}'),
    204,
  )
  assert.equal((await call('GET /api/v1/items?a=b'))[0], 429)
  const [, list] = await call('GET /api/v1/items')
  assert.ok(
    list.endsWith(
      `[{"id":"${ids[0]}","project_id":null,"n":1.0,"big":12345678901234567890},{"id":"${ids[1]}","project_id":"p","__proto__":1}]}`,
    ),
    list,
  )
  await assert.rejects(call(`DELETE /api/v1/items/${ids[0]}`), { name: 'TypeError' })
  assert.equal((await call(`GET /api/v1/items/${ids[0]}`))[0], 500)
  const body = `{"data":{"a":"\\u0001\\n${'é😀'.repeat(50_000)}"}`
  assert.equal((await call('POST /api/v1/items', body))[0], 422)
  const [, recorded] = await call('GET /control/requests')
  const { requests }: { requests: Record<string, unknown>[] } = JSON.parse(recorded)
  const [first] = requests
  assert.equal(String(first?.session_id).length, 36)
  const path = '/api/v1/items'
  assert.deepEqual(first, {
    ...{ method: 'GET', path, query: 'a=b', status: 429 },
    ...{ session_id: first?.session_id, body: null },
  })
  const seen = requests.map((each) => [each.method, each.status, each.body === body || each.body])
  assert.deepEqual(seen.slice(1), [
    ['GET', 200, null],
    ['DELETE', null, null],
    ['GET', 500, null],
    ['POST', 422, true],
  ])
  assert.equal(await post('delay', '{"min":60000,"max":60000,"method":"PUT"}'), 204)
  const delayed = call(`PUT /api/v1/items/${ids[0]}`, '{"data":{}}')
  await call('GET /control/requests') // once it answers, the delayed request has arrived too
  assert.equal(await post('reset'), 204)
  assert.equal((await delayed)[0], 503)
  assert.match((await call('GET /control/requests'))[1], /"requests":\[\]\}$/)
  assert.equal((await call('GET /api/v1/items'))[0], 429)
  assert.match((await call('GET /api/v1/items'))[1], /"data":\[\]/)
})
