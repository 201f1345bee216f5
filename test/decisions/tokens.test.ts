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
const [header = '', payload = '', signature = ''] = valid.split('.')

type Refused = [title: string, token: string | (() => string), code?: string]

const refused: Refused[] = [
  ['without sub', service.mint({ exp })],
  ['sub a number', service.mint({ sub: 1, exp })],
  ['without exp', service.mint({ sub: 'tester' })],
  ['exp a string', service.mint({ sub: 'tester', exp: String(exp) })],
  ['exp a fraction in the past', service.mint({ sub: 'tester', exp: 1.5 }), 'TOKEN_EXPIRED'],
  ['exp beyond all numbers', service.mint('{"sub":"tester","exp":1e400}')],
  ['exp below all numbers', service.mint('{"sub":"tester","exp":-1e400}')],
  ['expired, without sub', service.mint({ exp: 1 }), 'TOKEN_EXPIRED'],
  ['expired, sub a number', service.mint({ sub: 1, exp: 1.5 }), 'TOKEN_EXPIRED'],
  ['expired, nbf in the future', service.mint({ ...claims, exp: 1, nbf: exp }), 'TOKEN_EXPIRED'],
  ['expired, iat a string', service.mint({ ...claims, exp: 1, iat: 'x' }), 'TOKEN_EXPIRED'],
  ['iat a string', service.mint({ ...claims, iat: 'today' })],
  ['iat beyond all numbers', service.mint(`{"sub":"tester","exp":${exp},"iat":1e400}`)],
  [
    'exp twice, expired the second time',
    service.mint(`{"sub":"tester","exp":${exp},"exp":1}`),
    'TOKEN_EXPIRED',
  ],
  ['nbf in the future', service.mint({ ...claims, nbf: inSeconds(600) })],
  ['nbf a fraction in the future', service.mint({ ...claims, nbf: inSeconds(600) + 0.5 })],
  ['nbf a string', service.mint({ ...claims, nbf: '1' })],
  ['nbf below all numbers', service.mint(`{"sub":"tester","exp":${exp},"nbf":-1e400}`)],
  ['claims under __proto__', service.mint(`{"__proto__":{"sub":"a","exp":${exp}}}`)],
  ['alg under __proto__', service.mint(claims, { header: '{"__proto__":{"alg":"HS256"}}' })],
  ['payload an array', service.mint([claims])],
  ['payload not JSON', service.mint('sub=tester')],
  ['payload after a byte order mark', service.mint(`\ufeff${JSON.stringify(claims)}`)],
  ['payload not UTF-8', service.mint(Buffer.from(`{"sub":"\xe9","exp":${exp}}`, 'latin1'))],
  ['header not JSON', service.mint(claims, { header: 'HS256' })],
  ['header an array', service.mint(claims, { header: '[{"alg":"HS256"}]' })],
  ...['none', 'None', 'HS384', 'HS512', 'hs256', 'RS256', ''].map(
    (algorithm): Refused => [`alg "${algorithm}"`, service.mint(claims, { algorithm })],
  ),
  ['alg none with a signature', service.mint(claims, { header: { alg: 'none' } })],
  ['alg HS384, signed as HS256', service.mint(claims, { header: { alg: 'HS384' } })],
  ...[
    { crit: ['unknown'] },
    { crit: [] },
    { crit: ['exp'], exp },
    { crit: 'b64' },
    { crit: ['b64'], b64: false },
    { crit: ['b64', 'b64'], b64: false },
  ].map(
    (header): Refused => [
      `header with ${JSON.stringify(header)}`,
      service.mint(claims, { header }),
    ],
  ),
  ['b64 false, payload not encoded', unencodedPayload()],
  ['signature with an unused bit flipped', `${header}.${payload}.${flipped()}`],
  ['signature with padding', `${valid}=`],
  ['signature in plain base64', plainBase64()],
  ['signature cut short', valid.slice(0, -2)],
  ['signature with a character more', `${valid}A`],
  [
    'signature in hexadecimal',
    `${header}.${payload}.${Buffer.from(signature, 'base64url').toString('hex')}`,
  ],
  ['five parts', `${valid}.${payload}.${signature}`],
  ['two tokens with a space between', `${valid} ${valid}`],
  ['two tokens with a comma between', `${valid}, Bearer ${valid}`],
  ['a no-break space before it', `\xa0${valid}`],
  ['quotes around', `"${valid}"`],
  ['expired and wrongly signed', service.mint({ sub: 'a', exp: 1 }, { secret: 'no' })],
  ['expired and of another algorithm', service.mint({ sub: 'a', exp: 1 }, { algorithm: 'HS384' })],
  ['expired long ago', service.mint({ sub: 'a', exp: 0 }), 'TOKEN_EXPIRED'],
  ['exp equal to now', () => service.mint({ sub: 'a', exp: inSeconds(0) }), 'TOKEN_EXPIRED'],
]
for (const [title, token, code = 'INVALID_TOKEN'] of refused) {
  test(`§5 ${title}: 401 ${code}`, async () => {
    const sent = typeof token === 'string' ? token : token()
    const answer = await service.request('GET', '/items', { token: sent })
    assertRefused(answer, 401, code)
    assert.equal(answer.headers['www-authenticate'], 'Bearer')
  })
}

const messages: [title: string, token: string, message: string][] = [
  ['not three parts', 'a.b', 'it is not a JSON Web Token'],
  ['another secret', service.mint(claims, { secret: 'no' }), 'its signature does not match'],
  ['crit', service.mint(claims, { header: { crit: [] } }), 'its header is not supported'],
  [
    'HS384',
    service.mint(claims, { header: { alg: 'HS384' } }),
    'its algorithm is not the configured one',
  ],
  ['no JSON', service.mint('sub=tester'), 'its payload is not JSON'],
  ['no UTF-8', service.mint(Buffer.from('"\xe9"', 'latin1')), 'its payload is not UTF-8'],
  [
    'no sub',
    service.mint({ exp }),
    'it needs sub (a string) and exp (a number); nbf and iat must be numbers',
  ],
  ['nbf', service.mint({ ...claims, nbf: exp }), 'it is not valid yet (nbf)'],
]
for (const [title, token, message] of messages) {
  test(`§5 the message says what is wrong with a token: ${title}`, async () => {
    const answer = await service.request('GET', '/items', { token })
    assert.equal(assertRefused(answer, 401, 'INVALID_TOKEN'), `The token is invalid: ${message}`)
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
  const signed = `${base64url('{"alg":"HS256","b64":false,"crit":["b64"]}')}.${JSON.stringify(claims)}`
  return `${signed}.${signatureOf(signed, service.secret)}`
}
