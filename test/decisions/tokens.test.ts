/** Decisions on §5: tokens at the edges. §5.5 is in test/auth-environment.test.ts. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useService } from '../conformance/service.js'
import { base64url, inSeconds, signatureOf, validClaims } from '../conformance/tokens.js'
import { ownService, ownTest } from '../support/own-service.js'
import { assertRefused } from './expect.js'

const service = await useService()
const exp = inSeconds(3600)
const claims = { sub: 'tester', exp }
const valid = service.validToken()
const [header = '', payload = '', signature = ''] = valid.split('.')

const refused: { title: string; token: string | (() => string); code?: string }[] = [
  { title: 'without sub', token: service.mint({ exp }) },
  { title: 'sub a number', token: service.mint({ sub: 1, exp }) },
  { title: 'sub null', token: service.mint({ sub: null, exp }) },
  { title: 'sub an array', token: service.mint({ sub: ['tester'], exp }) },
  { title: 'without exp', token: service.mint({ sub: 'tester' }) },
  { title: 'exp a string', token: service.mint({ sub: 'tester', exp: String(exp) }) },
  { title: 'exp a fraction', token: service.mint({ sub: 'tester', exp: exp + 0.5 }) },
  { title: 'exp a fraction in the past', token: service.mint({ sub: 'tester', exp: 1.5 }) },
  { title: 'exp null', token: service.mint({ sub: 'tester', exp: null }) },
  { title: 'exp beyond all numbers', token: service.mint('{"sub":"tester","exp":1e400}') },
  {
    title: 'exp twice, expired the second time',
    token: service.mint(`{"sub":"tester","exp":${exp},"exp":1}`),
    code: 'TOKEN_EXPIRED',
  },
  { title: 'nbf in the future', token: service.mint({ ...claims, nbf: inSeconds(600) }) },
  { title: 'nbf a string', token: service.mint({ ...claims, nbf: '1' }) },
  {
    title: 'claims under __proto__',
    token: service.mint(`{"__proto__":{"sub":"a","exp":${exp}}}`),
  },
  {
    title: 'alg under __proto__',
    token: service.mint(claims, { header: '{"__proto__":{"alg":"HS256"}}' }),
  },
  { title: 'payload an array', token: service.mint([claims]) },
  { title: 'payload null', token: service.mint('null') },
  { title: 'payload a string', token: service.mint('"tester"') },
  { title: 'payload empty', token: service.mint('') },
  { title: 'payload not JSON', token: service.mint('sub=tester') },
  {
    title: 'payload after a byte order mark',
    token: service.mint(`\ufeff${JSON.stringify(claims)}`),
  },
  {
    title: 'payload not UTF-8',
    token: service.mint(Buffer.from(`{"sub":"\xe9","exp":${exp}}`, 'latin1')),
  },
  { title: 'header not JSON', token: service.mint(claims, { header: 'HS256' }) },
  { title: 'header an array', token: service.mint(claims, { header: '[{"alg":"HS256"}]' }) },
  { title: 'header without alg', token: service.mint(claims, { header: '{"typ":"JWT"}' }) },
  ...['none', 'None', 'HS384', 'HS512', 'hs256', 'RS256', ''].map((algorithm) => ({
    title: `alg "${algorithm}"`,
    token: service.mint(claims, { algorithm }),
  })),
  { title: 'alg none with a signature', token: service.mint(claims, { header: { alg: 'none' } }) },
  {
    title: 'alg HS384, signed as HS256',
    token: service.mint(claims, { header: { alg: 'HS384' } }),
  },
  { title: 'alg an array', token: service.mint(claims, { header: { alg: ['HS256'] } }) },
  ...[
    { crit: ['unknown'] },
    { crit: ['unknown'], unknown: 1 },
    { crit: [] },
    { crit: ['exp'], exp },
    { crit: 'b64' },
    { crit: ['b64'], b64: false },
    { crit: ['b64'], b64: true },
    { crit: ['b64', 'b64'], b64: false },
  ].map((added) => ({
    title: `header with ${JSON.stringify(added)}`,
    token: service.mint(claims, { header: added }),
  })),
  { title: 'b64 false, payload not encoded', token: unencodedPayload() },
  { title: 'signature with an unused bit flipped', token: `${header}.${payload}.${flipped()}` },
  { title: 'signature with padding', token: `${valid}=` },
  { title: 'signature in plain base64', token: plainBase64() },
  { title: 'signature cut short', token: valid.slice(0, -2) },
  { title: 'signature with a character more', token: `${valid}A` },
  {
    title: 'signature in hexadecimal',
    token: `${header}.${payload}.${Buffer.from(signature, 'base64url').toString('hex')}`,
  },
  { title: 'four parts', token: `${valid}.` },
  { title: 'five parts', token: `${valid}.${payload}.${signature}` },
  { title: 'two tokens with a space between', token: `${valid} ${valid}` },
  { title: 'two tokens with a comma between', token: `${valid}, Bearer ${valid}` },
  { title: 'quotes around', token: `"${valid}"` },
  { title: 'dots alone', token: '..' },
  {
    title: 'expired and wrongly signed',
    token: service.mint({ sub: 'a', exp: 1 }, { secret: 'no' }),
  },
  {
    title: 'expired and of another algorithm',
    token: service.mint({ sub: 'a', exp: 1 }, { algorithm: 'HS384' }),
  },
  { title: 'expired long ago', token: service.mint({ sub: 'a', exp: 0 }), code: 'TOKEN_EXPIRED' },
  { title: 'exp before 1970', token: service.mint({ sub: 'a', exp: -1 }), code: 'TOKEN_EXPIRED' },
  {
    title: 'exp equal to now',
    token: () => service.mint({ sub: 'a', exp: inSeconds(0) }),
    code: 'TOKEN_EXPIRED',
  },
]
for (const { title, token, code = 'INVALID_TOKEN' } of refused) {
  test(`§5 ${title}: 401 ${code}`, async () => {
    const sent = typeof token === 'string' ? token : token()
    const answer = await service.request('GET', '/items', { token: sent })
    assertRefused(answer, 401, code)
    assert.equal(answer.headers['www-authenticate'], 'Bearer')
  })
}

const accepted = [
  { title: 'iat in the future', claims: { ...claims, iat: inSeconds(600) } },
  { title: 'iat of another type', claims: { ...claims, iat: 'today' } },
  { title: 'nbf in the past', claims: { ...claims, nbf: inSeconds(-1) } },
  { title: 'sub empty', claims: { ...claims, sub: '' } },
  { title: 'further claims', claims: { ...claims, aud: 'x', iss: 'y', jti: 'z', __proto: 1 } },
  { title: 'header without typ', claims, header: { typ: undefined } },
  { title: 'header with another typ', claims, header: { typ: 'anything' } },
  { title: 'header with a kid', claims, header: { kid: '../../secret' } },
]
for (const { title, claims: given, header: added = {} } of accepted) {
  test(`§5 ${title}: accepted`, async () => {
    const token = service.mint(given, { header: added })
    assert.equal((await service.request('GET', '/items', { token })).status, 200)
  })
}

const schemes = [
  { authorization: `bearer ${valid}`, status: 200 },
  { authorization: `BEARER ${valid}`, status: 200 },
  { authorization: `bEaReR ${valid}`, status: 200 },
  { authorization: 'Bearer', status: 401 },
  { authorization: 'bearer', status: 401 },
  { authorization: 'Bearer ', status: 401 },
  { authorization: '', status: 401 },
  { authorization: `Bearer${valid}`, status: 401 },
  { authorization: `BearerToken ${valid}`, status: 401 },
  { authorization: `Token ${valid}`, status: 401 },
  { authorization: `Basic, Bearer ${valid}`, status: 401 },
]
for (const { authorization, status } of schemes) {
  const shown = authorization.replace(valid, '<token>')
  test(`§5 Authorization "${shown}": ${status}${status === 401 ? ' MISSING_TOKEN' : ''}`, async () => {
    const answer = await service.request('GET', '/items', { headers: { authorization } })
    if (status === 401) assertRefused(answer, 401, 'MISSING_TOKEN')
    else assert.equal(answer.status, status, answer.text)
  })
}

test('§5 forged tokens among many valid ones at once are all rejected', async () => {
  const requests = Array.from({ length: 200 }, async (_, index) => {
    const isForged = index % 5 === 0
    const token = service.mint(
      { ...validClaims(), sub: `user ${index}` },
      isForged ? { secret: 'no' } : {},
    )
    assert.equal((await service.request('GET', '/items', { token })).status, isForged ? 401 : 200)
  })
  await Promise.all(requests)
})

for (const algorithm of ['HS384', 'HS512']) {
  ownTest(`§5 JWT_ALGORITHM ${algorithm}: only that algorithm is accepted`, async () => {
    const other = await ownService({ JWT_ALGORITHM: algorithm })
    for (const used of ['HS256', 'HS384', 'HS512', 'none']) {
      const token = other.mint(validClaims(), { algorithm: used })
      const answer = await other.request('GET', '/items', { token })
      if (used === algorithm) assert.equal(answer.status, 200)
      else assertRefused(answer, 401, 'INVALID_TOKEN')
    }
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
