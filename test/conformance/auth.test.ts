/** Tests of authentication (spec §5). For §5.5, see test/auth-environment.test.ts. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertError, create, type Item, listed, stored } from './expect.js'
import { useService } from './service.js'
import { test } from './test.js'
import { base64url, inSeconds, signatureOf, validClaims } from './tokens.js'

const service = await useService()

function requestsTo({ id }: Item, project_id: string) {
  const body = JSON.stringify({ data: {}, project_id })
  return [
    { method: 'GET', path: '/items' },
    { method: 'POST', path: '/items', body },
    { method: 'GET', path: `/items/${id}` },
    { method: 'PUT', path: `/items/${id}`, body },
    { method: 'DELETE', path: `/items/${id}` },
  ]
}

const [header = '', payload = '', signature = ''] = service.validToken().split('.')
const forgedPayload = base64url(JSON.stringify({ ...validClaims(), sub: 'root' }))
const brokenSignature = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)
const signedWith = (secret: string) => service.mint(validClaims(), { secret })
const expiredAt = (exp: number) => service.mint({ sub: 'tester', exp })

const tokens: [title: string, code: string, token: string][] = [
  ['expired token', 'TOKEN_EXPIRED', expiredAt(inSeconds(-3600))],
  ['token that expired seconds ago', 'TOKEN_EXPIRED', expiredAt(inSeconds(-5))],
  ['bad signature', 'INVALID_TOKEN', `${header}.${payload}.${brokenSignature}`],
  ['payload changed after signing', 'INVALID_TOKEN', `${header}.${forgedPayload}.${signature}`],
  ['empty signature', 'INVALID_TOKEN', `${header}.${payload}.`],
  ['no signature', 'INVALID_TOKEN', `${header}.${payload}`],
  ['Bearer value that is not a JWT', 'INVALID_TOKEN', 'not-a-jwt'],
  ['three parts that are not a JWT', 'INVALID_TOKEN', 'a.b.c'],
  ['token signed with a different secret', 'INVALID_TOKEN', signedWith(`${service.secret}x`)],
  ['token signed with an empty secret', 'INVALID_TOKEN', signedWith('')],
  ...['none', 'HS384', 'HS512', 'RS256', 'ES256'].map((algorithm): (typeof tokens)[number] => [
    `token using the algorithm ${algorithm}`,
    'INVALID_TOKEN',
    service.mint(validClaims(), { algorithm }),
  ]),
]
const refused: (readonly [title: string, code: string, authorization?: string])[] = [
  ['no Authorization header', 'MISSING_TOKEN'],
  ['Basic scheme', 'MISSING_TOKEN', 'Basic dXNlcjpwYXNz'],
  ['Digest scheme', 'MISSING_TOKEN', 'Digest a="b"'],
  ['valid token in the Basic scheme', 'MISSING_TOKEN', `Basic ${service.validToken()}`],
  ['valid token without a scheme', 'MISSING_TOKEN', service.validToken()],
  ...tokens.map(([title, code, token]) => [title, code, `Bearer ${token}`] as const),
]
for (const [title, code, authorization] of refused) {
  test(`§1.3 §2.5 §4 §5.6 §7 ${title}: 401 ${code} at each item endpoint, with §5.7 WWW-Authenticate: Bearer`, async () => {
    const mark = randomUUID()
    const item = await create(service, { mark }, mark)
    for (const { method, path, ...rest } of requestsTo(item, mark)) {
      const answer = await service.request(method, path, { ...rest, headers: { authorization } })
      assertError(answer, 401, code)
      assert.equal(answer.headers['www-authenticate'], 'Bearer', 'WWW-Authenticate in a 401')
    }
    assert.deepEqual(await stored(service, item.id), item, 'the stored item')
    const marked = (await listed(service)).filter(({ project_id }) => project_id === mark)
    assert.deepEqual(marked, [item], 'the items of the project')
  })
}

test('§5.1 GET /health ignores an invalid token', async () => {
  for (const authorization of ['Bearer not-a-jwt', 'Basic dXNlcjpwYXNz']) {
    const { status } = await service.request('GET', '/health', { headers: { authorization } })
    assert.equal(status, 200, 'status')
  }
})

test('§5.2 §5.4 a token is verified on every request: it is rejected once it has expired', async () => {
  let [exp, token, status] = [0, '', 401]
  // On a busy machine, a token may expire before it arrives, so each attempt uses a longer lifetime.
  for (let time = 2; status === 401 && time < 60; time *= 2) {
    exp = inSeconds(time)
    token = service.mint({ sub: 'tester', exp })
    status = (await service.request('GET', '/items', { token })).status
  }
  assert.equal(status, 200, 'status')
  await sleep((exp + 1) * 1000 - Date.now())
  assertError(await service.request('GET', '/items', { token }), 401, 'TOKEN_EXPIRED')
})

test('§5.3 the signature is HMAC SHA-256 over base64url header and payload, joined by a dot', async () => {
  const headerText = base64url('{"typ":"JWT","alg":"HS256"}')
  const claims = base64url(`{"exp":${inSeconds(600)},"sub":"é???>>>"}`)
  assert.match(claims, /_.*-/, 'the characters that only base64url has')
  const signed = `${headerText}.${claims}`
  const token = `${signed}.${signatureOf(signed, service.secret)}`
  assert.equal((await service.request('GET', '/items', { token })).status, 200, 'status')
})

const accepted = [
  { title: 'sub and exp alone', claims: { sub: 'tester', exp: inSeconds(600) } },
  { title: 'iat in the past', claims: { ...validClaims(), iat: inSeconds(-60) } },
  { title: 'exp far in the future', claims: { sub: 'tester', exp: 32_503_680_000 } },
]
for (const { title, claims } of accepted) {
  test(`§2.6 §5.4 ${title}: accepted`, async () => {
    const token = service.mint(claims)
    assert.equal((await service.request('GET', '/items', { token })).status, 200, 'status')
  })
}

test('§5.8 any valid token may use every item, whoever created it', async () => {
  const { id } = await create(service, {})
  const statuses = []
  for (const [sub, method, body] of [
    ['alice', 'GET'],
    ['bob', 'PUT', '{"data":{}}'],
    ['carol', 'DELETE'],
  ] as const) {
    const token = service.mint({ sub, exp: inSeconds(600) })
    const options = body === undefined ? { token } : { token, body }
    statuses.push((await service.request(method, `/items/${id}`, options)).status)
  }
  assert.deepEqual(statuses, [200, 200, 204], 'the statuses of three callers')
})
