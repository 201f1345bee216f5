import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { readConfig } from '../config/read-config.js'
import { clientOf, originOf, prefixOf } from './forwarded.js'

function requestFrom(
  remoteAddress: string,
  headers: Record<string, string>,
  trusted: string | undefined,
) {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress })
  const request = Object.assign(new IncomingMessage(socket), { headers })
  return { request, proxies: readConfig({}, { TRUSTED_PROXIES: trusted }).trustedProxies }
}

const proxies = '127.0.0.1, 10.0.0.0/8,::1,fd00::/8'

for (const { trusted, from, says, client } of [
  { trusted: undefined, from: '127.0.0.1', says: '203.0.113.7', client: '127.0.0.1' },
  { trusted: proxies, from: '::ffff:127.0.0.1', says: '203.0.113.7', client: '203.0.113.7' },
  { trusted: proxies, from: '203.0.113.9', says: '198.51.100.1', client: '203.0.113.9' },
  { trusted: proxies, from: '127.0.0.1', says: '198.51.100.1, 203.0.113.7', client: '203.0.113.7' },
  { trusted: proxies, from: '::1', says: '203.0.113.7, fd00::9, 10.1.2.3', client: '203.0.113.7' },
  { trusted: proxies, from: '127.0.0.1', says: '10.1.2.3', client: '10.1.2.3' },
  { trusted: proxies, from: '127.0.0.1', says: '203.0.113.7, x\n', client: '127.0.0.1' },
  { trusted: proxies, from: '127.0.0.1', says: '203.0.113.7:5678', client: '203.0.113.7' },
  { trusted: proxies, from: '127.0.0.1', says: '203.0.113.7, 10.1.2.3:80', client: '203.0.113.7' },
  { trusted: proxies, from: '127.0.0.1', says: '[2001:db8::1]:1234', client: '2001:db8::1' },
  { trusted: proxies, from: '127.0.0.1', says: '[2001:db8::1]', client: '2001:db8::1' },
  { trusted: proxies, from: '127.0.0.1', says: '"[2001:db8::1]:1234"', client: '2001:db8::1' },
  { trusted: proxies, from: '127.0.0.1', says: '"203.0.113.7"', client: '203.0.113.7' },
  { trusted: proxies, from: '127.0.0.1', says: '203.0.113.7, unknown', client: '127.0.0.1' },
  { trusted: proxies, from: '127.0.0.1', says: '203.0.113.7, [10.1.2.3', client: '127.0.0.1' },
]) {
  test(`from ${from}, X-Forwarded-For: ${says}, trusted: ${trusted}: the client is ${client}`, () => {
    assert.equal(clientOf(requestFrom(from, { 'x-forwarded-for': says }, trusted)), client)
  })
}

for (const { trusted, host, url = '/', scheme, origin } of [
  { trusted: undefined, host: 'a.example', scheme: 'https', origin: 'http://a.example' },
  { trusted: proxies, host: 'a.example', scheme: 'https', origin: 'https://a.example' },
  { trusted: proxies, host: 'a.example', scheme: 'javascript', origin: 'http://a.example' },
  { trusted: proxies, host: 'a.example', scheme: 'HTTPS', origin: 'https://a.example' },
  { trusted: proxies, host: 'a.example', scheme: 'https,http', origin: 'https://a.example' },
  { trusted: proxies, host: 'a.example', scheme: 'https, https', origin: 'https://a.example' },
  { trusted: proxies, host: 'a.example', scheme: 'http, https', origin: 'http://a.example' },
  { trusted: proxies, host: '[::1]:9000', scheme: 'http', origin: 'http://[::1]:9000' },
  { trusted: undefined, host: '', scheme: '', origin: undefined },
  { trusted: undefined, host: 'a:99999', scheme: '', origin: undefined },
  { trusted: undefined, host: 'b', url: 'http://a:81/x', scheme: '', origin: 'http://a:81' },
  { trusted: undefined, host: 'b', url: 'http://a?x', scheme: '', origin: 'http://a' },
]) {
  test(`${url}, Host: ${host}, X-Forwarded-Proto: ${scheme}, trusted: ${trusted}: the origin is ${origin}`, () => {
    const headers = { host, 'x-forwarded-proto': scheme }
    const exchange = requestFrom('10.0.0.9', headers, trusted)
    exchange.request.url = url
    assert.equal(originOf(exchange), origin)
  })
}

const prefixes: [given: string, prefix: string][] = [
  ['/store', '/store'],
  [' /store/ ', '/store'],
  ['/', ''],
  ['/outer, /inner/', '/outer/inner'],
  ['/caf%C3%A9/v2.0', '/caf%C3%A9/v2.0'],
]
const unclean = [
  ...['//evil.example', '/a//b', '/a//', 'store', 'https://evil.example/', '@evil.example/'],
  ...['/a%zz', '/a%2', '/a/../b', '/..', '/.', '/a/%2E%2e/b', '/a\\b', '\\\\evil.example'],
  ...['/\\evil.example', '/a\rb', '/a\r\nb: c', '/a\tb', '/a b', '/é', '/a"b', '/<b>', '/a?b'],
  ...['/a#b', '/a, b', '/a,//b'],
]
for (const [given, prefix] of [...prefixes, ...unclean.map((text) => [text, ''] as const)]) {
  test(`X-Forwarded-Prefix: ${JSON.stringify(given)}: the prefix is "${prefix}"`, () => {
    const headers = { 'x-forwarded-prefix': given }
    assert.equal(prefixOf(requestFrom('10.0.0.9', headers, proxies)), prefix)
    assert.equal(prefixOf(requestFrom('10.0.0.9', headers, undefined)), '')
    assert.equal(prefixOf(requestFrom('203.0.113.9', headers, proxies)), '')
  })
}

test('of addresses that a client forges in great number, only the last are looked at', ({
  mock,
}) => {
  const forwarded = `${'10.1.2.3,'.repeat(1800)}10.0.0.1`
  const request = requestFrom('127.0.0.1', { 'x-forwarded-for': forwarded }, proxies)
  assert.ok(request.proxies !== undefined)
  const check = mock.method(request.proxies, 'check')
  clientOf(request)
  assert.ok(check.mock.callCount() < 50, `${check.mock.callCount()} checks`)
})
