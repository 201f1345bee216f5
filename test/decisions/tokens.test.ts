/** Tests which tokens are accepted where spec §5 leaves it open. For §5.5, see test/auth-environment.test.ts. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useService } from '../conformance/service.js'
import { inSeconds } from '../conformance/tokens.js'
import { assertRefused } from './expect.js'

const service = await useService()
const exp = inSeconds(3600)
const claims = { sub: 'tester', exp }
const valid = service.validToken()
const [header, payload, signature = ''] = valid.split('.')
const signed = `${header}.${payload}`

const reason = {
  form: 'it is not a JSON Web Token',
  signature: 'its signature does not match',
  header: 'its header is not supported',
  algorithm: 'its algorithm is not the configured one',
  claims: 'it needs sub (a string) and exp (a number); nbf and iat must be numbers',
  early: 'it is not valid yet (nbf)',
}

/** Invalid tokens, each with the reason given in the error message. No reason is given for an expired token. */
const rejected: [title: string, token: string, why?: string][] = [
  ['no sub', service.mint({ exp }), reason.claims],
  ['no exp', service.mint({ sub: 'tester' }), reason.claims],
  ['exp is a string', service.mint({ sub: 'tester', exp: String(exp) }), reason.claims],
  ['exp is a past fraction', service.mint({ sub: 'tester', exp: 1.5 })],
  ['exp is infinity', service.mint('{"sub":"tester","exp":1e400}'), reason.claims],
  ['expired, and no sub', service.mint({ exp: 1 })],
  ['expired, and nbf is in the future', service.mint({ ...claims, exp: 1, nbf: exp })],
  ['the last of two exp has passed', service.mint(`{"sub":"a","exp":${exp},"exp":1}`)],
  ['iat is a string', service.mint({ ...claims, iat: 'today' }), reason.claims],
  ['nbf is in the future', service.mint({ ...claims, nbf: inSeconds(600) + 0.5 }), reason.early],
  ['nbf is a string', service.mint({ ...claims, nbf: '1' }), reason.claims],
  ['claims in __proto__', service.mint(`{"__proto__":{"sub":"a","exp":${exp}}}`), reason.claims],
  ['the payload is an array', service.mint([claims]), reason.claims],
  ['the payload is not JSON', service.mint('sub=tester'), 'its payload is not JSON'],
  ['not UTF-8', service.mint(Buffer.from('"\xe9"', 'latin1')), 'its payload is not UTF-8'],
  ['the header is not JSON', service.mint(claims, { header: 'HS256' }), 'its header is not JSON'],
  ['alg is none, but signed', service.mint(claims, { header: { alg: 'none' } }), reason.algorithm],
  ['alg is HS384, as signed', service.mint(claims, { algorithm: 'HS384' }), reason.signature],
  ['alg is HS384', service.mint(claims, { header: { alg: 'HS384' } }), reason.algorithm],
  ['crit is empty', service.mint(claims, { header: { crit: [] } }), reason.header],
  ['an unused bit of the signature is flipped', `${signed}.${flipped()}`, reason.signature],
  ['the signature is cut short', valid.slice(0, -2), reason.signature],
  ['two tokens separated by a comma', `${valid}, Bearer ${valid}`, reason.form],
  ['expired and wrongly signed', service.mint({ exp: 1 }, { secret: 'no' }), reason.signature],
]
for (const [title, token, why] of rejected) {
  const code = why === undefined ? 'TOKEN_EXPIRED' : 'INVALID_TOKEN'
  test(`§5 a token is rejected with 401 ${code} and the reason: ${title}`, async () => {
    const answer = await service.request('GET', '/items', { token })
    const message = why === undefined ? 'The token has expired' : `The token is invalid: ${why}`
    assert.equal(assertRefused(answer, 401, code), message)
    assert.equal(answer.headers['www-authenticate'], 'Bearer')
  })
}

const accepted: [title: string, claims: object, header?: object][] = [
  ['exp is a fraction', { ...claims, exp: exp + 0.123456 }],
  ['iat is in the future', { ...claims, iat: inSeconds(600) }],
  ['nbf is in the past', { ...claims, nbf: inSeconds(-1) }],
  ['sub is empty', { ...claims, sub: '' }],
  ['further claims', { ...claims, aud: 'x', iss: 'y', jti: 'z', __proto: 1 }],
  ['the header has no typ', claims, { typ: undefined }],
  ['the header has a kid', claims, { kid: '../../secret' }],
]
for (const [title, given, header = {}] of accepted) {
  test(`§5 a token is accepted: ${title}`, async () => {
    const token = service.mint(given, { header })
    assert.equal((await service.request('GET', '/items', { token })).status, 200)
  })
}

for (const scheme of ['bearer', 'BEARER']) {
  test(`§5 the scheme ${scheme} is Bearer`, async () => {
    const headers = { authorization: `${scheme} ${valid}` }
    assert.equal((await service.request('GET', '/items', { headers })).status, 200)
  })
}

const schemes = ['BearerToken <token>', 'Basic, Bearer <token>', 'Bearer<token>']
for (const shown of [...schemes, 'bearer', 'Bearer ', '']) {
  test(`§5 Authorization "${shown}": 401 MISSING_TOKEN`, async () => {
    const headers = { authorization: shown.replace('<token>', valid) }
    assertRefused(await service.request('GET', '/items', { headers }), 401, 'MISSING_TOKEN')
  })
}

/** Changes the signature's last character without changing the bytes that the signature decodes to. */
function flipped(): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet[alphabet.indexOf(signature.slice(-1)) ^ 1]
  return `${signature.slice(0, -1)}${last}`
}
