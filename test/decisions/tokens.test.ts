/** Decisions on §5: tokens at the edges. §5.5 is in test/auth-environment.test.ts. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useService } from '../conformance/service.js'
import { base64url, inSeconds, signatureOf } from '../conformance/tokens.js'
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

/** Tokens, each with the reason that the message gives; `undefined` if it is that the token has expired. */
const refused: [title: string, token: string | (() => string), why: string | undefined][] = [
  ['without sub', service.mint({ exp }), reason.claims],
  ['sub a number', service.mint({ sub: 1, exp }), reason.claims],
  ['without exp', service.mint({ sub: 'tester' }), reason.claims],
  ['exp a string', service.mint({ sub: 'tester', exp: String(exp) }), reason.claims],
  ['exp a fraction in the past', service.mint({ sub: 'tester', exp: 1.5 }), undefined],
  ['exp beyond all numbers', service.mint('{"sub":"tester","exp":1e400}'), reason.claims],
  ['exp below all numbers', service.mint('{"sub":"tester","exp":-1e400}'), reason.claims],
  ['exp equal to now', () => service.mint({ sub: 'a', exp: inSeconds(0) }), undefined],
  ['expired, without sub', service.mint({ exp: 1 }), undefined],
  ['expired, nbf in the future', service.mint({ ...claims, exp: 1, nbf: exp }), undefined],
  ['expired, iat a string', service.mint({ ...claims, exp: 1, iat: 'x' }), undefined],
  ['expired in its second exp', service.mint(`{"sub":"a","exp":${exp},"exp":1}`), undefined],
  ['iat a string', service.mint({ ...claims, iat: 'today' }), reason.claims],
  ['iat beyond all numbers', service.mint(`{"sub":"a","exp":${exp},"iat":1e400}`), reason.claims],
  ['nbf in the future', service.mint({ ...claims, nbf: inSeconds(600) + 0.5 }), reason.early],
  ['nbf a string', service.mint({ ...claims, nbf: '1' }), reason.claims],
  ['nbf below all numbers', service.mint(`{"sub":"a","exp":${exp},"nbf":-1e400}`), reason.claims],
  ['claims under __proto__', service.mint(`{"__proto__":{"sub":"a","exp":${exp}}}`), reason.claims],
  ['payload an array', service.mint([claims]), reason.claims],
  ['payload not JSON', service.mint('sub=tester'), 'its payload is not JSON'],
  ['payload after a byte order mark', service.mint('\ufeff{}'), 'its payload is not JSON'],
  ['payload not UTF-8', service.mint(Buffer.from('"\xe9"', 'latin1')), 'its payload is not UTF-8'],
  ['header not JSON', service.mint(claims, { header: 'HS256' }), 'its header is not JSON'],
  ['header an array', service.mint(claims, { header: '[{"alg":"HS256"}]' }), reason.header],
  [
    'alg none with a signature',
    service.mint(claims, { header: { alg: 'none' } }),
    reason.algorithm,
  ],
  ['alg HS384, signed so', service.mint(claims, { algorithm: 'HS384' }), reason.signature],
  ['alg HS384', service.mint(claims, { header: { alg: 'HS384' } }), reason.algorithm],
  ['alg hs256', service.mint(claims, { header: { alg: 'hs256' } }), reason.algorithm],
  ['crit empty', service.mint(claims, { header: { crit: [] } }), reason.header],
  ['crit of a claim', service.mint(claims, { header: { crit: ['exp'], exp } }), reason.header],
  ['payload not encoded (RFC 7797)', unencodedPayload(), reason.form],
  ['signature with an unused bit flipped', `${signed}.${flipped()}`, reason.signature],
  ['signature with padding', `${valid}=`, reason.form],
  ['signature in plain base64', plainBase64(), reason.form],
  ['signature cut short', valid.slice(0, -2), reason.signature],
  ['five parts', `${valid}.${payload}.${signature}`, reason.form],
  ['two tokens with a comma between', `${valid}, Bearer ${valid}`, reason.form],
  ['a no-break space before it', `\xa0${valid}`, reason.form],
  ['quotes around', `"${valid}"`, reason.form],
  ['expired and wrongly signed', service.mint({ exp: 1 }, { secret: 'no' }), reason.signature],
]
for (const [title, token, why] of refused) {
  const code = why === undefined ? 'TOKEN_EXPIRED' : 'INVALID_TOKEN'
  test(`§5 ${title}: 401 ${code}, and the message says why`, async () => {
    const sent = typeof token === 'string' ? token : token()
    const answer = await service.request('GET', '/items', { token: sent })
    const message = why === undefined ? 'The token has expired' : `The token is invalid: ${why}`
    assert.equal(assertRefused(answer, 401, code), message)
    assert.equal(answer.headers['www-authenticate'], 'Bearer')
  })
}

const accepted: [title: string, claims: object, header?: object][] = [
  ['exp a fraction', { ...claims, exp: exp + 0.123456 }],
  ['iat in the future', { ...claims, iat: inSeconds(600) }],
  ['iat a fraction', { ...claims, iat: exp + 0.5 }],
  ['nbf in the past', { ...claims, nbf: inSeconds(-1) }],
  ['nbf a fraction in the past', { ...claims, nbf: inSeconds(-1) - 0.5 }],
  ['sub empty', { ...claims, sub: '' }],
  ['further claims', { ...claims, aud: 'x', iss: 'y', jti: 'z', __proto: 1 }],
  ['header without typ', claims, { typ: undefined }],
  ['header with another typ', claims, { typ: 'anything' }],
  ['header with a kid', claims, { kid: '../../secret' }],
]
for (const [title, given, header = {}] of accepted) {
  test(`§5 ${title}: accepted`, async () => {
    const token = service.mint(given, { header })
    assert.equal((await service.request('GET', '/items', { token })).status, 200)
  })
}

const schemes = {
  [`bearer ${valid}`]: 200,
  [`BEARER ${valid}`]: 200,
  [`bEaReR ${valid}`]: 200,
  Bearer: 401,
  bearer: 401,
  'Bearer ': 401,
  '': 401,
  [`Bearer${valid}`]: 401,
  [`BearerToken ${valid}`]: 401,
  [`Token ${valid}`]: 401,
  [`Basic, Bearer ${valid}`]: 401,
}
for (const [authorization, status] of Object.entries(schemes)) {
  const shown = authorization.replace(valid, '<token>')
  test(`§5 Authorization "${shown}": ${status}${status === 401 ? ' MISSING_TOKEN' : ''}`, async () => {
    const answer = await service.request('GET', '/items', { headers: { authorization } })
    if (status === 401) assertRefused(answer, 401, 'MISSING_TOKEN')
    else assert.equal(answer.status, status, answer.text)
  })
}

/** The signature with another last character that stands for the same bytes. */
function flipped(): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet[alphabet.indexOf(signature.slice(-1)) ^ 1]
  return `${signature.slice(0, -1)}${last}`
}

/** A token whose signature is encoded with + and / instead of - and _. */
function plainBase64(): string {
  for (let number = 0; ; number += 1) {
    const [first, second, third = ''] = service.mint({ ...claims, number }).split('.')
    const plain = third.replaceAll('-', '+').replaceAll('_', '/')
    if (plain !== third) return `${first}.${second}.${plain}`
  }
}

/** As RFC 7797 has it, which asks that no JWT does so. */
function unencodedPayload(): string {
  const input = `${base64url('{"alg":"HS256","b64":false,"crit":["b64"]}')}.${JSON.stringify(claims)}`
  return `${input}.${signatureOf(input, service.secret)}`
}
