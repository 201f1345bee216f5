/** Tests invalid HTTP, `Expect` headers, timeouts, and when connections are closed (interface §4, §7 and §8). */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { create, stored } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { validClaims } from '../conformance/tokens.js'
import { ownService, ownTest } from '../support/own-service.js'
import {
  exchange,
  exchangeOne,
  firstText,
  headOf,
  openSocket,
  wholeText,
  writePieces,
} from '../support/socket.js'
import { assertHeaders, assertRefused, statusAndConnection, statusesOf } from './expect.js'

const service = await useService()
const prefix = service.baseUrl.pathname
const health = `GET ${prefix}/health HTTP/1.1\r\n`
const post = `POST ${prefix}/items HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.validToken()}\r\n`

const invalidHosts = [
  ...['a b', 'user@127.0.0.1', 'a/path', 'a:b', '[::1', '::1', 'a:80:80', '[x]', '[:::]'],
  ...['[1:2:3:4:5:6:7:8:9]', '[1.2.3.4]', '[::1]x', '[]'],
]
const invalidAuthorities = ['', ':80', 'user@a', 'a:b', '[:::]', 'a%zz']
const notHttp = {
  garbage: 'garbage\r\n\r\n',
  'bytes of TLS': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'HTTP/2.0': `GET ${prefix}/health HTTP/2.0\r\nHost: a\r\n\r\n`,
  'no Host': `${health}\r\n`,
  'two Hosts': `${health}Host: a\r\nHost: a\r\n\r\n`,
  ...Object.fromEntries(
    invalidHosts.map((host) => [`the Host "${host}"`, `${health}Host: ${host}\r\n\r\n`]),
  ),
  ...Object.fromEntries(
    invalidAuthorities.map((authority) => [
      `a target with the authority "${authority}"`,
      `GET http://${authority}${prefix}/health HTTP/1.1\r\nHost: a\r\n\r\n`,
    ]),
  ),
  'an absolute target without Host': `GET http://a${prefix}/health HTTP/1.1\r\n\r\n`,
  'a transfer coding besides chunked': `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  'a Transfer-Encoding in HTTP/1.0': `${post.replace('HTTP/1.1', 'HTTP/1.0')}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  'two Content-Lengths that differ': `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  'Content-Length and chunks': `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'a chunk without a size': `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
}

for (const [title, bytes] of Object.entries(notHttp)) {
  test(`§7 ${title} is a 400 BAD_REQUEST, in the shape of every error`, async () => {
    const answer = await exchangeOne(service.baseUrl, Buffer.from(bytes, 'latin1'))
    assertRefused(answer, 400, 'BAD_REQUEST')
    assert.ok(Date.parse(String(answer.headers.date)) > 0, 'without Date')
  })
}

const tooLarge = {
  '129 header lines': `${health}Host: a\r\n${'a:b\r\n'.repeat(128)}\r\n`,
  'a path of 20 KiB': `GET ${prefix}/items/${'x'.repeat(20_480)} HTTP/1.1\r\nHost: a\r\n\r\n`,
}

for (const [title, bytes] of Object.entries(tooLarge)) {
  test(`§7 ${title}: 431 HEADERS_TOO_LARGE, in the shape of every error`, async () => {
    assertRefused(await exchangeOne(service.baseUrl, bytes), 431, 'HEADERS_TOO_LARGE')
  })
}

const hosts = [
  ...['', 'a', 'a.example:8080', '127.0.0.1', '[::1]:80', '[v1.x:y]', 'a:', 'b%C3%BC', 'a_b'],
  ...['a&b'],
]
for (const host of hosts) {
  test(`§4 the Host "${host}" is valid (RFC 9112 §3.2)`, async () => {
    const answer = await exchangeOne(service.baseUrl, `${health}Host: ${host}\r\n\r\n`)
    assert.equal(answer.status, 200, answer.text)
  })
}

const odd: [title: string, bytes: string, status: number][] = [
  ['a header named __proto__', `${health}Host: a\r\n__proto__: x\r\n\r\n`, 200],
  ['HTTP/1.0 without Host', `GET ${prefix}/health HTTP/1.0\r\n\r\n`, 200],
  ['an unknown Expect', `${health}Host: a\r\nExpect: tea\r\n\r\n`, 200],
  ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', 404],
  [
    'an absolute target with another Host',
    `GET http://b${prefix}/health HTTP/1.1\r\nHost: a\r\n\r\n`,
    200,
  ],
  ['128 header lines', `${health}Host: a\r\n${'a:b\r\n'.repeat(127)}\r\n`, 200],
]
for (const [title, bytes, status] of odd) {
  test(`§1.4 the response to ${title} is ${status}, with a session id`, async () => {
    const answer = await exchangeOne(service.baseUrl, bytes)
    assert.equal(answer.status, status, answer.text)
    assertHeaders(answer)
  })
}

const body = '{"data":{"a":1}}'
const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n10\r\n${body}\r\n0\r\n`
const next = `${health}Host: a\r\n\r\n`
for (const [title, bytes, expected] of [
  ['in HTTP/1.0', `GET ${prefix}/health HTTP/1.0\r\nConnection: CLOSE\t, keep-alive\r\n\r\n`, 200],
  ['in a trailer', `${chunked}Connection: close\r\n\r\n`, 201],
] as const) {
  test(`§4 Connection: close ${title} ends the connection, and no 400 follows`, async () => {
    const [first, ...more] = await exchange(service.baseUrl, bytes + next)
    assert.deepEqual([statusAndConnection(first ?? assert.fail()), more], [[expected, 'close'], []])
    const statuses = statusesOf(await exchange(service.baseUrl, [bytes, next]))
    assert.deepEqual(statuses, [expected])
  })
}

const isHeadInvalid = [
  ['HEAD / HTTP/1.1\r\nHost : a\r\n\r\n', 400],
  [`\r\nHEAD / HTTP/1.1\r\nFoo: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['HEAD / HTTP/1.1\r\n\r\n', 400],
  ['HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n', 400],
] as const
for (const [bytes, status] of isHeadInvalid) {
  test(`§7 ${status} for a HEAD request has no body: ${JSON.stringify(bytes.slice(0, 50))}`, async () => {
    for (const pieces of [[bytes], [bytes.slice(0, 9), bytes.slice(9)]]) {
      const socket = openSocket(service.baseUrl)
      await writePieces(socket, pieces)
      assert.match(await wholeText(socket), new RegExp(`^HTTP/1.1 ${status}.*\\r\\n\\r\\n$`, 's'))
    }
  })
}

const expecting = (length: number) => `Content-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`

test('§8 Expect: 100-continue with a too large Content-Length gets a 413, without a 100 before it', async () => {
  const answer = await exchangeOne(service.baseUrl, `${post}${expecting(2 ** 40)}`)
  assertRefused(answer, 413, 'PAYLOAD_TOO_LARGE')
})

test('§4.3 a create with Expect: 100-continue gets a 100, and a 201 once the body has arrived', async () => {
  const bytes = `${post}${expecting(body.length)}${body}`
  const answers = await exchange(service.baseUrl, bytes, 2)
  assert.deepEqual(statusesOf(answers), [100, 201])
})

test('§5 a request with two Authorization headers gets 401 INVALID_TOKEN', async () => {
  const twice = `Authorization: Bearer ${service.validToken()}\r\n\r\n`
  const head = post.replace('POST', 'GET')
  assertRefused(await exchangeOne(service.baseUrl, `${head}${twice}`), 401, 'INVALID_TOKEN')
})

const tunnel = 'CONNECT elsewhere:1 HTTP/1.1\r\nHost: elsewhere:1\r\n\r\n'

for (const [title, before] of [
  ['a new connection', ''],
  ['an unanswered request', `${health}Host: a\r\n\r\n`],
]) {
  test(`§4 CONNECT after ${title} opens no tunnel, and closes the connection`, async () => {
    await once(openSocket(service.baseUrl, before + tunnel).resume(), 'close')
    assert.equal((await service.request('GET', '/health')).status, 200)
  })
}

const ownStatus: Record<string, number> = { GET: 200, DELETE: 204 } // GET and DELETE need no body
const bearers: [kind: string, token: string, refusal?: number][] = [
  ['no token', '', 401],
  ['a token that was seen before', service.validToken()],
  ['a forged token', service.mint(validClaims(), { secret: 'another'.repeat(9) }), 401],
]
for (const [kind, token, refusal] of bearers) {
  for (const method of ['GET', 'DELETE', 'PUT']) {
    test(`§7 ${method} with a malformed body and ${kind} gets one response, and a 400 changes nothing`, async () => {
      // A body in the same packet as the head is checked before the service acts on the head.
      const breakBody = async (round: number) => {
        const { id } = await create(service, { n: 1 })
        const head = `${method} ${prefix}/items/${id} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n`
        const pieces = [`${head}Transfer-Encoding: chunked\r\n\r\n`, 'zz\r\n']
        const sent = round % 2 === 0 ? [pieces.join('')] : pieces
        const statuses = statusesOf(await exchange(service.baseUrl, sent))
        const [status = 0, ...more] = statuses
        const allowed = round % 2 === 0 ? [refusal ?? 400] : [400, refusal ?? ownStatus[method]]
        assert.ok(allowed.includes(status), `answered ${statuses}`)
        assert.deepEqual(more, [])
        assert.equal((await stored(service, id))?.n, status === 204 ? undefined : 1)
      }
      await Promise.all(Array.from({ length: 20 }, (_, round) => breakBody(round)))
    })
  }
}

test('§4.2 a body of 30 MB on a GET of the list is read to its end before the client reads the list', async () => {
  const ids: string[] = []
  for (let count = 0; count < 3; count += 1) {
    ids.push((await create(service, { pad: 'x'.repeat(10_000_000) })).id)
  }
  const head = headOf(service, 'GET', '/items', 'Content-Length: 30000000')
  const list = await exchangeOne(service.baseUrl, [head, 'x'.repeat(30_000_000)])
  assert.equal(list.status, 200)
  for (const id of ids) await service.call('DELETE', `/items/${id}`)
})

test('§7 the service stays healthy when clients disconnect in the middle of a request', async () => {
  const head = `${post}Content-Length: 100\r\n\r\n{"data":`
  const parts = ['', 'GET', `${health}Host:`, head, ...Array<string>(50).fill(tunnel)]
  for (const bytes of parts) {
    const socket = openSocket(service.baseUrl)
    await once(socket, 'connect')
    await new Promise((resolve) => socket.write(bytes, resolve))
    socket.resetAndDestroy()
  }
  assert.equal((await service.request('GET', '/health')).status, 200)
})

ownTest('§7 408 REQUEST_TIMEOUT for a request that is incomplete after the timeout', async () => {
  const own = await ownService({ REQUEST_TIMEOUT: '1' })
  const head = `POST ${prefix}/items HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${own.validToken()}\r\n`
  const { id } = await create(own, { kept: 1 })
  const late = [
    'GET',
    `GET ${prefix}/health HTTP/1.1\r\n`,
    `${head}Content-Length: 11\r\n\r\n`,
    `${head}Content-Length: 11\r\n\r\n{"data":`,
    `${head}Transfer-Encoding: chunked\r\n\r\n8\r\n{"data":`,
  ]
  const answers = await Promise.all(late.map((bytes) => exchangeOne(own.baseUrl, bytes)))
  for (const answer of answers) assertRefused(answer, 408, 'REQUEST_TIMEOUT')
  assert.equal((await stored(own, id))?.kept, 1)
})

ownTest('half a head after a response is a 408, despite a shorter KEEP_ALIVE_TIMEOUT', async () => {
  const own = await ownService({ REQUEST_TIMEOUT: '8', KEEP_ALIVE_TIMEOUT: '5' })
  const health = `GET ${own.baseUrl.pathname}/health HTTP/1.1\r\nHost: a\r\n`
  const socket = openSocket(own.baseUrl, `${health}\r\n`)
  assert.match(await firstText(socket), /^HTTP\/1\.1 200 /)
  socket.write(health)
  assert.match(await wholeText(socket), /^HTTP\/1\.1 408 .*"error_code":"REQUEST_TIMEOUT"/s)
})

ownTest('a connection without another request is closed after KEEP_ALIVE_TIMEOUT', async () => {
  const own = await ownService({ KEEP_ALIVE_TIMEOUT: '1' })
  const health = `GET ${own.baseUrl.pathname}/health HTTP/1.1\r\nHost: a\r\n\r\n`
  assert.deepEqual(statusesOf(await exchange(own.baseUrl, [health])), [200])
})
