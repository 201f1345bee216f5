import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../interface/errors.js'
import { environmentSigning, signingProblem } from './secret.js'
import { signToken } from './sign.js'
import { verifyToken } from './token.js'

const secret = 'a secret of at least thirty-two bytes'
const now = () => Math.floor(Date.now() / 1000)

beforeEach(async () => {
  process.env.JWT_SECRET = secret
  delete process.env.JWT_ALGORITHM
})
afterEach(() => {
  delete process.env.JWT_SECRET
  delete process.env.JWT_ALGORITHM
})

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/** A token with any header and payload text, rightly signed. */
function sign(payload: string, header = '{"alg":"HS256"}'): string {
  const signed = `${base64url(header)}.${base64url(payload)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

async function outcome(token: string): Promise<string> {
  try {
    const { sub } = await verifyToken(token)
    return `accepted ${sub}`
  } catch (error) {
    if (error instanceof ApiError) return String(error.code)
    throw error
  }
}

const cases = [
  { what: 'sub and exp', payload: `{"sub":"a","exp":${now() + 60}}`, expected: 'accepted a' },
  { what: 'iat ahead of now', payload: `{"sub":"a","exp":9e9,"iat":8e9}`, expected: 'accepted a' },
  {
    what: 'iat of another type',
    payload: `{"sub":"a","exp":9e9,"iat":"x"}`,
    expected: 'accepted a',
  },
  { what: 'nbf in the past', payload: `{"sub":"a","exp":9e9,"nbf":1}`, expected: 'accepted a' },
  { what: 'exp now', payload: `{"sub":"a","exp":${now()}}`, expected: 'TOKEN_EXPIRED' },
  { what: 'exp past', payload: `{"sub":"a","exp":1}`, expected: 'TOKEN_EXPIRED' },
  {
    what: 'exp twice, the last past',
    payload: `{"sub":"a","exp":9e9,"exp":1}`,
    expected: 'TOKEN_EXPIRED',
  },
  { what: 'nbf ahead', payload: `{"sub":"a","exp":9e9,"nbf":8e9}`, expected: 'INVALID_TOKEN' },
  { what: 'nbf a string', payload: `{"sub":"a","exp":9e9,"nbf":"1"}`, expected: 'INVALID_TOKEN' },
  { what: 'no exp', payload: `{"sub":"a"}`, expected: 'INVALID_TOKEN' },
  { what: 'exp a string', payload: `{"sub":"a","exp":"9e9"}`, expected: 'INVALID_TOKEN' },
  { what: 'exp a fraction', payload: `{"sub":"a","exp":9000000000.5}`, expected: 'INVALID_TOKEN' },
  { what: 'exp past all numbers', payload: `{"sub":"a","exp":1e999}`, expected: 'INVALID_TOKEN' },
  { what: 'no sub', payload: `{"exp":9e9}`, expected: 'INVALID_TOKEN' },
  { what: 'sub a number', payload: `{"sub":1,"exp":9e9}`, expected: 'INVALID_TOKEN' },
  {
    what: 'claims under __proto__',
    payload: `{"__proto__":{"sub":"a","exp":9e9}}`,
    expected: 'INVALID_TOKEN',
  },
  { what: 'an array', payload: `[{"sub":"a","exp":9e9}]`, expected: 'INVALID_TOKEN' },
  { what: 'no JSON', payload: 'sub', expected: 'INVALID_TOKEN' },
]

for (const { what, payload, expected } of cases) {
  test(`a payload with ${what}: ${expected}`, async () => {
    assert.equal(await outcome(sign(payload)), expected)
  })
}

const good = '{"sub":"a","exp":9000000000}'
const headers = [
  { header: '{"alg":"HS256","typ":"anything"}', expected: 'accepted a' },
  { header: '{"alg":"none"}', expected: 'INVALID_TOKEN' },
  { header: '{"alg":"HS384"}', expected: 'INVALID_TOKEN' },
  { header: '{"alg":"hs256"}', expected: 'INVALID_TOKEN' },
  { header: '{"alg":["HS256"]}', expected: 'INVALID_TOKEN' },
  { header: '{}', expected: 'INVALID_TOKEN' },
  { header: '{"alg":"HS256","crit":[]}', expected: 'INVALID_TOKEN' },
  { header: '{"alg":"HS256","crit":["x"],"x":1}', expected: 'INVALID_TOKEN' },
  { header: '{"alg":"HS256","crit":["b64"],"b64":true}', expected: 'INVALID_TOKEN' },
  { header: '{"alg":"HS256","crit":["b64"],"b64":false}', expected: 'INVALID_TOKEN' },
]

for (const { header, expected } of headers) {
  test(`a header ${header}: ${expected}`, async () => {
    assert.equal(await outcome(sign(good, header)), expected)
  })
}

test('no change of a single character gets in', async () => {
  const token = sign(good)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ '
  await fc.assert(
    fc.asyncProperty(
      fc.nat(token.length),
      fc.constantFrom(...alphabet, ''),
      fc.nat(1),
      async (place, character, drop) => {
        const changed = token.slice(0, place) + character + token.slice(place + drop)
        if (changed !== token) assert.equal(await outcome(changed), 'INVALID_TOKEN')
      },
    ),
    { numRuns: 1000 },
  )
  // The unused bits of the signature's last character, all of them.
  for (const last of alphabet) {
    const changed = token.slice(0, -1) + last
    if (changed !== token) assert.equal(await outcome(changed), 'INVALID_TOKEN')
  }
})

test('any text is refused, with no other error', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.string(), fc.json().map(base64url), fc.base64String()), {
        maxLength: 5,
      }),
      async (parts) => assert.equal(await outcome(parts.join('.')), 'INVALID_TOKEN'),
    ),
  )
})

test('secret and algorithm are the current ones', async () => {
  const token = await signToken('a', 60)
  assert.equal(await outcome(token), 'accepted a')
  process.env.JWT_SECRET = `${secret}!`
  assert.equal(await outcome(token), 'INVALID_TOKEN')
  process.env.JWT_SECRET = secret
  assert.equal(await outcome(token), 'accepted a')
  process.env.JWT_ALGORITHM = 'HS512'
  assert.equal(await outcome(token), 'INVALID_TOKEN')
  assert.equal(await outcome(await signToken('b', 60)), 'accepted b')
  process.env.JWT_ALGORITHM = ''
  assert.equal(await outcome(token), 'accepted a')
})

test('without a usable secret and algorithm no token is accepted', async () => {
  const token = await signToken('a', 60)
  for (const [JWT_SECRET, JWT_ALGORITHM] of [
    ['', 'HS256'],
    [secret, 'RS256'],
    [secret, 'none'],
    [secret, 'toString'],
  ]) {
    Object.assign(process.env, { JWT_SECRET, JWT_ALGORITHM })
    assert.equal(await outcome(token), 'AUTH_NOT_CONFIGURED')
    assert.match(signingProblem(environmentSigning) ?? '', /^JWT_/)
  }
})

test('the algorithm in the environment is matched as written', async () => {
  process.env.JWT_ALGORITHM = 'hs256'
  assert.equal(
    signingProblem(environmentSigning),
    'JWT_ALGORITHM is not one of HS256, HS384, HS512',
  )
})

test('the exp of a cached token is checked again', async () => {
  const token = sign(`{"sub":"a","exp":${now() + 1}}`)
  assert.equal(await outcome(token), 'accepted a')
  assert.equal(await outcome(token), 'accepted a')
  await new Promise((resolve) => setTimeout(resolve, 2100 - (Date.now() % 1000)))
  assert.equal(await outcome(token), 'TOKEN_EXPIRED')
})

/** Whether a token was remembered: what is known of it is then the same object each time. */
function isRemembered(token: string): boolean {
  const known = verifyToken(token)
  return verifyToken(token) === known
}

test('an accepted token is cached, and none that resembles it', async () => {
  const token = sign(good)
  assert.ok(isRemembered(token))
  assert.equal(await outcome(`${token.slice(0, -1)}x`), 'INVALID_TOKEN')
})

test('no more than ten thousand tokens are cached, and none that was refused', async () => {
  process.env.JWT_SECRET = `${secret} of this test`
  const all = await Promise.all(Array.from({ length: 10_001 }, (_, at) => signToken(`${at}`, 600)))
  const forged = all.map((token) => `${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`)
  const known = all.map((token) => verifyToken(token))
  for (const token of forged) assert.equal(await outcome(token), 'INVALID_TOKEN')
  const isKnown = (at: number) => verifyToken(all[at] ?? '') === known[at]
  assert.deepEqual([10_000, 5_000, 0].map(isKnown), [true, true, false])
})

test('a very long token is verified, and not cached', async () => {
  const token = sign(`{"sub":"${'a'.repeat(3000)}","exp":9000000000}`)
  assert.ok(!isRemembered(token))
})
