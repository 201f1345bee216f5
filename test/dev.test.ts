/** Tests of `item-store dev`: output, seeds, delays, failures, and tokens that stay valid after a restart. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { claimsOf } from './conformance/tokens.js'
import { cli } from './support/own-service.js'
import { ownProcess } from './support/process.js'
import { describeWithRedis, startedRedis } from './support/redis.js'
import { cleanEnvironment, emptyFolder, readText } from './support/tools.js'

const folder = emptyFolder()
const env = cleanEnvironment()

function fileWith(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return name
}

async function startDev(...args: string[]) {
  const command = [cli, 'dev', '--port', '0', '--host', '127.0.0.1', ...args]
  const own = ownProcess([process.execPath, ...command], { cwd: folder, env })
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

function errorOfDev(...args: string[]): string {
  const command = [cli, 'dev', '--port', '0', ...args]
  const options = { cwd: folder, env, encoding: 'utf8', timeout: 300_000 } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, command, options)
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
  await ask('/items')
  const log = (await printed(/ \/api\/v1\/items /)).slice(text.length)
  assert.match(log, / \/docs /)
  assert.ok(!log.includes(token), log)
})

for (const [args, variables, host] of [
  [[], {}, '127.0.0.1'],
  [[], { HOST: '0.0.0.0' }, 'localhost'],
] as const) {
  const given = JSON.stringify([...args, variables])
  test(`dev listens on 127.0.0.1 unless another address is set: ${given}`, async () => {
    const options = { cwd: folder, env: { ...env, ...variables } }
    const own = ownProcess([process.execPath, cli, 'dev', '--port', '0', ...args], options)
    const text = await own.printed(/^ +interface .*\n/m)
    assert.equal(new URL(/interface +(\S+)/.exec(text)?.[1] ?? '').hostname, host)
  })
}

test('dev prints no URL of a page that is turned off', async () => {
  const { baseUrl, text } = await startDev('--console', 'off', '--docs', 'off')
  assert.doesNotMatch(text, /page|#token/)
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
})

test('dev --delay does not delay health checks and refused requests, and a stop ends the delay', async () => {
  // Even on a busy machine, the responses and the shutdown take much less than the 60 s delay.
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
})

test('dev --failures makes the first item requests fail, and the others succeed', async () => {
  const { ask, baseUrl } = await startDev('--failures', '503,cut')
  assert.match(await ask('/items'), /SERVICE_UNAVAILABLE/)
  await assert.rejects(ask('/items'), { name: 'TypeError' })
  assert.equal((await fetch(`${baseUrl}/health`)).status, 200)
  assert.match(await ask('/items'), /"status":"success"/)
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
