/** Tests the tools for agents at /mcp, with messages that are sent exactly as given. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMemoryStore } from '../../src/store/memory/store.js'
import type { RequestOptions } from '../conformance/client.js'
import { create, itemOf, itemsOf, record } from '../conformance/expect.js'
import { jsonObject, jsonString, jsonValue } from '../support/json-text.js'
import { ownApp } from '../support/own-app.js'
import { until } from '../support/process.js'
import { headOf, openSocket } from '../support/socket.js'
import { assertRefused, itemText, sendText } from './expect.js'

const app = await ownApp({ store: createMemoryStore(64 * 1024 * 1024) }, { mcp: true })
const tiny = await ownApp({ store: createMemoryStore(10) }, { mcp: true })

interface Reply {
  readonly status: number
  readonly text: string
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
  readonly result?: Record<string, unknown>
}

async function send(
  body: string | Buffer,
  options: RequestOptions = {},
  own = app,
): Promise<Reply> {
  const token = own.validToken()
  const { status, text, json } = await own.requestTarget('POST', '/mcp', {
    token,
    body,
    ...options,
  })
  return { status, text, ...(text === '' ? {} : record(json())) }
}

function message(method: string, params = '{}', id = '1'): string {
  return `{"jsonrpc": "2.0", "id": ${id}, "method": "${method}", "params": ${params}}`
}

/** Calls a tool with the JSON text of its arguments. Returns the texts of the result. */
async function call(name: string, args: string, isError = false, own = app): Promise<string[]> {
  const body = message('tools/call', `{"name": "${name}", "arguments": ${args}}`)
  const { status, text, result } = await send(body, {}, own)
  assert.equal(status, 200, text)
  assert.equal(result?.isError, isError, text)
  return textsIn({ result })
}

function textsIn({ result }: Pick<Reply, 'result'>): string[] {
  const content = (result?.content ?? []) as { readonly text: string }[] // as the protocol says
  return content.map(({ text }) => text)
}

function tagIn(texts: readonly string[]): string {
  const [, tag] = /^tag: ([\w-]+)$/.exec(texts.find((text) => text.startsWith('tag: ')) ?? '') ?? []
  assert.ok(tag, texts.join('\n'))
  return tag
}

const getItem = (id: string) => app.call('GET', `/items/${id}`)

/** An item with numbers and names that a parser would change. */
const exact =
  '"n":12345678901234567890, "f" : 1.0,"e":1e400,"__proto__":{"b":-0,"a":"\\u0041\\/é"},"z":1,"a":1'

test('an item has the bytes of data, whatever the spelling of the message, and the result has its text', async () => {
  const first = `{"name":"create_item","arguments":{"data":{${exact}},"project_id":"p"}}`
  const second = `{"arguments" : {"project_id":"\\u0070", "data": 1, "dat\\u0061" :\n{${exact}} }, "name":"create_item", "x":{"data":{}}}`
  const other = '{"arguments":{"data":{"wrong":1}}}'
  const messages = [
    message('tools/call', first),
    message('tools/call', second),
    message('tools/call', `${other}, "params": ${first}, "x": ${other}`),
  ]
  for (const given of messages) {
    const [text = ''] = textsIn(await send(given))
    const id = String(record(JSON.parse(text)).id)
    assert.ok(text.endsWith(`,${exact}}`), text)
    assert.equal(itemText(await getItem(id)), text)
    assert.deepEqual((await call('get_item', `{"id":"${id}"}`))[0], text)
    const args = `{"id":"${id.toUpperCase()}","data":{"only":0.10}}`
    const [replaced = ''] = await call('replace_item', args)
    assert.equal(replaced, `{"id":"${id}","project_id":null,"only":0.10}`)
    assert.equal(itemText(await getItem(id)), replaced)
  }
})

test('any item request has the same result as by HTTP', async () => {
  const body = fc.oneof(
    jsonObject.map((data) => `{"data":${data}}`),
    fc.tuple(jsonObject, jsonString).map(([data, id]) => `{ "project_id":${id},"data":${data}}`),
    jsonValue.map((data) => `{"data":${data}}`),
  )
  await fc.assert(
    fc.asyncProperty(body, async (given) => {
      const reply = await send(message('tools/call', `{"name":"create_item","arguments":${given}}`))
      const answer = await sendText(app, 'POST', '/items', given)
      const [text = ''] = textsIn(reply)
      assert.equal(reply.result?.isError, answer.status !== 201, reply.text)
      if (answer.status === 201) {
        const { id } = record(JSON.parse(text))
        assert.equal(text, itemText(answer).replace(itemOf(answer, 201).id, String(id)))
      } else {
        assert.equal(record(JSON.parse(text)).detail, record(record(answer.json()).detail).detail)
      }
    }),
    { numRuns: 200 },
  )
})

const ids = String.raw`1.0 -0 12345678901234567890 1e400 "a" "\u0061é\ud800" ""`.split(' ')
for (const id of [...ids, `"${'x'.repeat(16_000)}"`]) {
  test(`the id ${id.slice(0, 30)} comes back exactly as it was sent`, async () => {
    const { text } = await send(message('ping', '{}', id))
    assert.equal(text, `{"jsonrpc":"2.0","id":${id},"result":{}}`)
  })
}

const meta = (version = '2026-07-28') =>
  `{"_meta":{"io.modelcontextprotocol/protocolVersion":"${version}","io.modelcontextprotocol/clientCapabilities":{}}}`
const unknown = { 'mcp-protocol-version': '2099-01-01' }
const modern = { 'mcp-protocol-version': '2026-07-28' }
const discover = { ...modern, 'mcp-method': 'server/discover' }
const listing = message('tools/call', meta().replace('{', '{"name":"list_items",'))
const named = (name: string) => ({ ...modern, 'mcp-method': 'tools/call', 'mcp-name': name })
const deep = '['.repeat(8000) + ']'.repeat(8000)

const refused: [body: string | Buffer, status: number, code: number, headers?: object][] = [
  ['', 400, -32700],
  ['{"jsonrpc": "2.0", "id": 1, "method": "ping"}}', 400, -32700],
  [Buffer.from(message('ping', '{"a":"\xff"}'), 'latin1'), 400, -32700],
  ['['.repeat(100_000), 400, -32700],
  ['[]', 400, -32600],
  [`[${message('ping')}]`, 400, -32600],
  ['null', 400, -32600],
  ['{}', 400, -32600],
  ['{"jsonrpc": "2.0", "id": 1, "result": {}}', 400, -32600],
  [message('ping', '{}', 'null'), 400, -32600],
  [message('ping', '{}', '[1]'), 400, -32600],
  [message('ping').replace('2.0', '1.0'), 400, -32600],
  [message('ping').replace('"ping"', '5'), 400, -32600],
  [message('ping', '[]'), 400, -32600],
  [message('ping', `{"a": "${'x'.repeat(16_384)}"}`), 400, -32600],
  [message('ping', `{"a": ${deep}}`, '1, "id": {}'), 400, -32600],
  [message('prompts/list'), 200, -32601],
  [message('server/discover'), 200, -32601],
  [message('tools/call'), 200, -32602],
  [message('tools/call', '{"name": "toString"}'), 200, -32602],
  [message('tools/call', '{"name": ["get_item"]}'), 200, -32602],
  [message('ping'), 400, -32602, modern],
  [message('ping'), 400, -32022, unknown],
  [message('ping', '{"_meta":{}}'), 400, -32022, unknown],
  [message('ping', meta().replace('{}', '1')), 400, -32602, modern],
  [message('ping', meta()), 400, -32020],
  [message('server/discover', meta()), 400, -32020, modern],
  [message('server/discover', meta()), 400, -32020, { ...discover, 'mcp-method': 'tools/list' }],
  [message('server/discover', meta('2099-01-01')), 400, -32020, discover],
  [listing, 400, -32020, named('get_item')],
  [listing, 400, -32020, named('=?base64?Z2V0X2l0ZW0=?=')],
  [message('server/discover', meta('2099-01-01')), 400, -32022, unknown],
  [message('initialize', meta()), 404, -32601, { ...modern, 'mcp-method': 'initialize' }],
  [message('ping'), 403, -32600, { origin: 'http://localhost.example.com' }],
  [message('ping'), 403, -32600, { origin: 'null' }],
  [message('ping'), 422, -32600, { 'content-type': 'text/plain' }],
]

for (const [place, [body, status, code, headers = {}]] of refused.entries()) {
  const shown = `${String(body).slice(0, 90)} ${JSON.stringify(headers)}`
  test(`error ${code} with status ${status}: ${shown} (${place})`, async () => {
    const { text, error, ...rest } = await send(body, { headers: { ...headers } })
    assert.equal(rest.status, status, text)
    assert.equal(error?.code, code, text)
    assert.ok(error.message.length > 0)
    if (code === -32022)
      assert.deepEqual(error.data, {
        supported: ['2026-07-28', '2025-11-25', '2025-06-18'],
        requested: '2099-01-01',
      })
  })
}

test('both kinds of versions: a handshake never offers the stateless version, whose results name their type', async () => {
  for (const [asked, offered] of [
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2026-07-28', '2025-11-25'],
    ['2024-11-05', '2025-11-25'],
  ]) {
    const { result } = await send(message('initialize', `{"protocolVersion": "${asked}"}`))
    assert.equal(result?.protocolVersion, offered)
    assert.equal(result?.resultType, undefined)
  }
  const headers = { 'mcp-protocol-version': '2025-06-18', 'mcp-session-id': 'x' }
  const started = await app.requestTarget('POST', '/mcp', {
    token: app.validToken(),
    body: '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    headers,
  })
  assert.deepEqual([started.status, started.headers['content-length']], [202, '0'])
  const { result } = await send(message('server/discover', meta()), { headers: discover })
  assert.deepEqual(result?.capabilities, { tools: {} })
  assert.equal(result?.resultType, 'complete')
  const given = { ...named('=?base64?bGlzdF9pdGVtcw==?='), origin: 'http://127.0.0.1:6274' }
  const called = await send(listing, { headers: given })
  assert.equal(called.result?.resultType, 'complete', called.text)
})

const wrong: [name: string, args: string, detail: RegExp, code?: string][] = [
  ['get_item', '{}', /id must be a string/],
  ['get_item', '{"id": 5}', /id must be a string/],
  ['get_item', '{"id": ""}', /id must not be empty/],
  ['get_item', '{"id": "x"}', /^Item x not found$/, 'none'],
  ['get_item', '{"id": "x", "__proto__": 1}', /"__proto__" is none of id/],
  ['list_items', '{"project": "a"}', /"project" is none of project_id/],
  ['list_items', '["a"]', /: arguments must be an object$/],
  ['get_item', '"id"', /: arguments must be an object$/],
  ['create_item', 'null', /data is missing/],
  ['create_item', '{"data": "{}"}', /data must be an object/],
  ['create_item', '{"data": {}, "project_id": ""}', /project_id must have at least 1 character/],
  ['create_item', '{"data": {}, "key": ""}', /key must not be empty/],
  ['replace_item', '{"id": "x", "data": {}, "if_match": ""}', /if_match must not be empty/],
  ['create_item', '{"data": {}, "key": "a b"}', /Idempotency-Key/, 'BAD_REQUEST'],
  ['delete_item', '{"id": "x", "if_match": "*"}', /^Item x not found$/, 'none'],
  ['replace_item', '{"id": "x", "data": {}}', /^Item x not found$/, 'none'],
  ['wait_for_change', '{"seconds": 61}', /seconds must be 0 to 60/],
  ['wait_for_change', '{"seconds": "1"}', /seconds must be a number/],
  ['wait_for_change', '{"id": "x", "project_id": "p"}', /give id or project_id/],
]
for (const [name, args, detail, code = 'VALIDATION_ERROR'] of wrong) {
  test(`${name} with ${args} is an error for the agent`, async () => {
    const [text = ''] = await call(name, args, true)
    const error = record(JSON.parse(text))
    assert.match(String(error.detail), detail)
    assert.equal(error.error_code ?? 'none', code)
  })
}

test('an empty project or tag counts as absent, and "*" as if_match means any tag', async () => {
  const everything = await call('list_items', '{}')
  assert.deepEqual(await call('list_items', '{"project_id":""}'), everything)
  const [created = ''] = await call('create_item', '{"data":{"n":1}}')
  const id = `"id":"${record(JSON.parse(created)).id}"`
  const waited = await call('wait_for_change', `{${id},"project_id":"","tag":"","seconds":0}`)
  assert.equal(waited[0], 'Nothing has changed.')
  await call('replace_item', `{${id},"data":{"n":2},"if_match":"*"}`)
  await call('delete_item', `{${id},"if_match":"*"}`)
  for (const name of ['replace_item', 'delete_item']) {
    const args = `{${id},"if_match":"*"${name === 'replace_item' ? ',"data":{}' : ''}}`
    assert.match((await call(name, args, true))[0] ?? '', /not found/)
  }
})

test('a conflict comes with the current item and its tag, with which the next call succeeds', async () => {
  const item = await create(app, { n: 1 })
  const stale = tagIn(await call('get_item', `{"id":"${item.id}"}`))
  await app.call('PUT', `/items/${item.id}`, { data: { n: 2 } })
  for (const name of ['replace_item', 'delete_item']) {
    const args = (tag: string) =>
      `{"id":"${item.id}","if_match":"${tag}"${name === 'replace_item' ? ',"data":{"n":3}' : ''}}`
    const [error = '', current, ...rest] = await call(name, args(stale), true)
    assert.deepEqual(JSON.parse(error), {
      detail: 'The item has another tag than if_match; the current item and its tag follow',
      error_code: 'PRECONDITION_FAILED',
    })
    assert.equal(current, itemText(await getItem(item.id)))
    const quoted = `\\"${tagIn(rest)}\\"`
    await call(name, args(quoted))
  }
  assert.equal((await getItem(item.id)).status, 404)
})

test('a key creates one item, for the same caller by HTTP too', async () => {
  const created = await call('create_item', '{"data":{"a":1.0},"key":"k","project_id":null}')
  assert.deepEqual(await call('create_item', '{"data":{"a":1.0},"key":"k"}'), created)
  const [error = '', current] = await call('create_item', '{"data":{"a":1},"key":"k"}', true)
  assert.deepEqual(JSON.parse(error), {
    detail: 'This key belongs to another item; the current item and its tag follow',
    error_code: 'IDEMPOTENCY_CONFLICT',
  })
  assert.equal(current, created[0])
  const withHeader = { headers: { 'idempotency-key': 'header' } }
  const create = message('tools/call', '{"name":"create_item","arguments":{"data":{}}}')
  const [one, other] = [await send(create, withHeader), await send(create, withHeader)]
  assert.notEqual(one.text, other.text) // the header belongs to the message, not to the call
})

/** The data of an item in a list. Some of its text looks like the end of an item or of the list. */
const listItem = (length: number) => ({
  odd: 'é"}]{[\\ \n,',
  list: [{ id: 1 }],
  text: 'x'.repeat(length),
})
const around = { id: randomUUID(), project_id: 'p0', ...listItem(0) }
const longest = 256 * 1024 - Buffer.byteLength(JSON.stringify(around)) // text of the longest item that is shown
const lists: [lengths: number[], shown?: number][] = [
  [[]],
  [[100, 100_000, 100_000]],
  [[100, 100_000, 100_000, 100_000, 1], 3],
  [[300_000], 0],
  [[longest + 1, 1], 0],
  ...[0, 1, 2, 100].map((less): [number[], number] => [[longest - less, 1], 1]),
]
for (const [place, [lengths, shown]] of lists.entries()) {
  test(`list_items shows ${shown ?? 'all'} of ${lengths.length} items with texts of ${lengths} bytes`, async () => {
    const project = `p${place}`
    for (const length of lengths) await create(app, listItem(length), project)
    const all = itemsOf(await app.call('GET', `/items?project_id=${project}`))
    const [text = '', tag = '', ...advice] = await call('list_items', `{"project_id":"${project}"}`)
    assert.deepEqual(JSON.parse(text), all.slice(0, shown))
    assert.match(tag, /^tag: [\w-]+$/)
    const note = `The list is longer than 256 KiB. These are its first ${shown} items. For less, give a project_id, keep fewer items in a project, or use get_item.`
    assert.deepEqual(advice, shown === undefined ? [] : [note])
  })
}

test('an item of some MiB comes back whole', async () => {
  const text = `{"text":${JSON.stringify('é"\\\n漢'.repeat(400_000))}}`
  const [created = ''] = await call('create_item', `{"data":${text}}`)
  assert.ok(created.endsWith(`,${text.slice(1)}`))
  const { id } = record(JSON.parse(created))
  assert.equal((await call('get_item', `{"id":"${id}"}`))[0], created)
})

const waits: [what: string, args: string, change: string, got: RegExp][] = [
  ['item', '{"id":"ID"}', 'PUT /items/ID', /"b":2\}$/],
  ['deleted item', '{"id":"ID"}', 'DELETE /items/ID', /not found/],
  ['list of a project', '{"project_id":"w"}', 'POST /items', /"b":2\}\]$/],
  ['list of all items', '{}', 'DELETE /items/ID', /./],
]
for (const [what, args, change, got] of waits) {
  test(`wait_for_change ends when there is a change: ${what}`, async () => {
    const { id } = await create(app, {})
    const waiting = call('wait_for_change', args.replace('ID', id), what === 'deleted item')
    await until('the call waits', async () => app.waitingReads.limit.value() === 1)
    const [method = '', path = ''] = change.replace('ID', id).split(' ')
    await app.call(method, path, { project_id: 'w', data: { b: 2 } })
    assert.match((await waiting)[0] ?? '', got)
  })
}

test('wait_for_change says when nothing has changed, and ends when the client goes away', async () => {
  const { id } = await create(app, {})
  const tag = tagIn(await call('get_item', `{"id":"${id}"}`))
  const args = (seconds: number) => `{"id":"${id}","tag":"${tag}","seconds":${seconds}}`
  assert.deepEqual(await call('wait_for_change', args(0)), ['Nothing has changed.', `tag: ${tag}`])
  assert.equal((await call('wait_for_change', args(0).replace(tag, 'old')))[1], `tag: ${tag}`)
  const body = message('tools/call', `{"name":"wait_for_change","arguments":${args(60)}}`)
  const socket = openSocket(app.baseUrl)
  const head = headOf(app, 'POST', '', `Content-Length: ${body.length}`)
  socket.write(head.replace(app.baseUrl.pathname, '/mcp') + body)
  await until('the call waits', async () => app.waitingReads.limit.value() === 1)
  socket.destroy()
  await until('the call has ended', async () => app.waitingReads.limit.value() === 0)
})

test('/mcp has the same token and limits as other paths, and is off by default', async () => {
  const token = app.validToken()
  const body = message('ping')
  const refusedWith = async (
    status: number,
    code: string,
    options: RequestOptions,
    method = 'POST',
  ) => assertRefused(await app.requestTarget(method, '/mcp', options), status, code)
  await refusedWith(401, 'MISSING_TOKEN', { body })
  await refusedWith(401, 'INVALID_TOKEN', { body, token: 'x' })
  await refusedWith(405, 'METHOD_NOT_ALLOWED', { token }, 'GET')
  const large = await send(message('ping', `{"a":"${'x'.repeat(17 * 1024 * 1024)}"}`))
  assert.equal(large.status, 413)
  assert.deepEqual(large.error?.data, { error_code: 'PAYLOAD_TOO_LARGE' })
  const [error = ''] = await call('create_item', '{"data":{"a":1}}', true, tiny)
  assert.equal(record(JSON.parse(error)).error_code, 'STORE_FULL')
  const off = await ownApp()
  const answer = await off.requestTarget('POST', '/mcp', { token: off.validToken(), body })
  assertRefused(answer, 404, 'ROUTE_NOT_FOUND')
})

const oneOf = (words: string) => fc.constantFrom(...words.split(' '))

test('any bytes get a JSON-RPC response', async () => {
  const parts =
    '{ } [ ] , : " \\ null 1e9 "id" "params" "arguments" "data" "jsonrpc":"2.0" "id":1 "_meta":{}' +
    ' "method":"tools/call" "name":"create_item"'
  const args = fc.dictionary(oneOf('id data key if_match tag seconds'), jsonValue)
  const name = oneOf('list_items get_item create_item replace_item delete_item')
  const calls = fc.tuple(name, args).map(([name, args]) => {
    const members = Object.entries(args).map(([name, value]) => `"${name}":${value}`)
    return message('tools/call', `{"name":"${name}","arguments":{${members}}}`)
  })
  const bodies = fc.oneof(
    fc.array(oneOf(parts), { maxLength: 12 }).map((each) => each.join('')),
    jsonValue,
    calls,
    fc.tuple(calls, fc.nat()).map(([text, end]) => text.slice(0, end % text.length)),
  )
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const { status, text, error, result } = await send(body)
      if (status === 202) return assert.equal(text, '')
      assert.ok(status === 200 || status === 400, text)
      assert.ok((error === undefined) !== (result === undefined), text)
    }),
    { numRuns: 300 },
  )
  assert.deepEqual(app.log, [])
})
