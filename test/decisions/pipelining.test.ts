/** Tests what spec §4 and §7 leave open about pipelined requests. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create, itemOf, stored } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { exchange, headOf, openSocket, wholeText, writePieces } from '../support/socket.js'
import { statusAndConnection, statusesOf } from './expect.js'

const service = await useService()
const prefix = service.baseUrl.pathname
const health = `GET ${prefix}/health HTTP/1.1\r\n`
const post = `POST ${prefix}/items HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.validToken()}\r\n`
const body = '{"data":{"a":1}}'

test('§4.5 pipelined requests take effect in the order sent', async () => {
  const { id } = await create(service, { n: 1 })
  const put = (n: number) =>
    `${headOf(service, 'PUT', `/items/${id}`, 'Content-Length: 16')}{"data":{"n":${n}}}`
  const [get, remove] = ['GET', 'DELETE'].map((method) => headOf(service, method, `/items/${id}`))
  const bytes = `${put(2)}${get}${put(3)}${put(4)}${get}${remove}${put(5)}`
  const answers = await exchange(service.baseUrl, bytes, 7)
  assert.deepEqual(statusesOf(answers), [200, 200, 200, 200, 200, 204, 404])
  const read = answers.slice(0, 5).map((answer) => itemOf(answer, 200).n)
  assert.deepEqual(read, [2, 2, 3, 4, 4])
})

test('§4 a client that closes its side with its last request gets every response', async () => {
  const create = `${post}Content-Length: ${body.length}\r\n\r\n`
  for (let round = 0; round < 10; round += 1) {
    const socket = openSocket(service.baseUrl, '', { allowHalfOpen: true })
    await writePieces(socket, [create + body + create])
    socket.end(body + create + body)
    assert.equal((await wholeText(socket)).match(/HTTP\/1\.1 201 Created\r\n/g)?.length, 3)
  }
})

for (const [what, method, lines] of [
  ['a DELETE', 'DELETE', ''],
  ['an Upgrade', 'DELETE', 'Connection: Upgrade\r\nUpgrade: h2c\r\n'],
  ['CONNECT', 'CONNECT', ''],
] as const) {
  test(`§4 ${what} has no effect after a request whose response closes the connection`, async () => {
    const { id } = await create(service, { n: 1 })
    const head = `${post.replace(/Bearer .*/, 'Bearer wrong')}Content-Length: ${body.length}\r\n`
    const target = method === 'CONNECT' ? 'a:1' : `${prefix}/items/${id}`
    const next = `${method} ${target}${post.slice(post.indexOf(' HTTP'))}${lines}\r\n`
    const pieces = [`${head}Expect: 100-continue\r\n\r\n`, body + next]
    const answers = await exchange(service.baseUrl, pieces)
    assert.deepEqual(answers.map(statusAndConnection), [[401, 'close']])
    assert.equal((await stored(service, id))?.n, 1)
  })
}

test('§1.4 Upgrade is ignored, and later requests on the connection are answered', async () => {
  const upgrade = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n'
  const create = `${post}${upgrade.slice(9)}Content-Length: ${body.length}\r\n\r\n${body}`
  const bytes = `${health}${upgrade}\r\n${create}${health}${upgrade}\r\n`
  const answers = await exchange(service.baseUrl, bytes, 3)
  const expected = [200, 201, 200].map((status) => [status, 'keep-alive'])
  assert.deepEqual(answers.map(statusAndConnection), expected)
})

test('§7 a malformed body of a request with Upgrade is a 400', async () => {
  const upgrade = 'Connection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n\r\n'
  const answers = await exchange(service.baseUrl, `${post}${upgrade}zz\r\n`, 1)
  assert.deepEqual(statusesOf(answers), [400])
})

test('§7 a deferred head is read as it would be at once', async () => {
  const get = `${health}Host: a\r\n\r\n`
  const tail = `GET  ${prefix}/health   HTTP/1.1\r\nX:\t\r\nHost:a\r\n`
  const chunks = '\r\n\r\n0\r\n\r\n'
  for (const [bytes, expected] of [
    [`${tail}Transfer-Encoding: gzip, chunked${chunks}`, [400]],
    [`${tail}Transfer-Encoding: chunked\t${chunks}`, [400]],
    [`${tail}Transfer-Encoding:chunked ${chunks}${get}`, [200, 200]],
    [`${tail}Content-Length: ${get.length + 2}\r\n\r\n${get}\r\n${get}`, [200, 200]],
  ] as const) {
    const { length } = expected
    assert.deepEqual(statusesOf(await exchange(service.baseUrl, bytes, length)), expected)
    // The first request's body looks like the head of the next request.
    const first = `${health}Host: a\r\nContent-Length: ${tail.length}\r\n\r\n${tail}`
    for (const cut of [0, 2, 7, 30, tail.length, bytes.length]) {
      const pieces = [first + bytes.slice(0, cut), bytes.slice(cut)].filter(Boolean)
      const answers = await exchange(service.baseUrl, pieces, length + 1)
      assert.deepEqual(statusesOf(answers), [200, ...expected])
    }
  }
})

test('§7 garbage is not answered after a HEAD whose Expect: 100-continue makes its response the last', async () => {
  const last = headOf(service, 'HEAD', '/items', 'Expect: 100-continue')
  const text = await wholeText(openSocket(service.baseUrl, `${last}garbage\r\n\r\n`))
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+|Connection: close/g), [
    'HTTP/1.1 200',
    'Connection: close',
  ])
})
