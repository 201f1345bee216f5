import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { readConfig } from '../config/read-config.js'
import { clientOf, originOf } from './exchange.js'

function requestFrom(remoteAddress: string, headers: Record<string, string>): IncomingMessage {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress })
  return Object.assign(new IncomingMessage(socket), { headers })
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
]) {
  test(`from ${from}, X-Forwarded-For: ${says}, trusted: ${trusted}: the client is ${client}`, () => {
    const { trustedProxies } = readConfig({}, { TRUSTED_PROXIES: trusted })
    const request = requestFrom(from, { 'x-forwarded-for': says })
    assert.equal(clientOf(request, trustedProxies), client)
  })
}

for (const { trusted, host, scheme, origin } of [
  { trusted: undefined, host: 'a.example', scheme: 'https', origin: 'http://a.example' },
  { trusted: proxies, host: 'a.example', scheme: 'https', origin: 'https://a.example' },
  { trusted: proxies, host: 'a.example', scheme: 'javascript', origin: 'http://a.example' },
  { trusted: proxies, host: '[::1]:9000', scheme: 'http', origin: 'http://[::1]:9000' },
  { trusted: undefined, host: '', scheme: '', origin: undefined },
  { trusted: undefined, host: 'a:99999', scheme: '', origin: undefined },
]) {
  test(`Host: ${host}, X-Forwarded-Proto: ${scheme}, trusted: ${trusted}: the origin is ${origin}`, () => {
    const { trustedProxies } = readConfig({}, { TRUSTED_PROXIES: trusted })
    const request = requestFrom('10.0.0.9', { host, 'x-forwarded-proto': scheme })
    assert.equal(originOf(request, trustedProxies), origin)
  })
}
