/** Compares token verification with the `jose` library, and tests the token cache, which clients cannot observe. */

import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { compactVerify, errors, jwtVerify } from 'jose'
import { mintToken } from '../../test/conformance/tokens.js'
import { collectGarbage } from '../../test/support/garbage.js'
import { randomNumbers } from '../../test/support/random.js'
import { ApiError } from '../interface/errors.js'
import { environmentSigning, followSecret, signToken } from './secret.js'
import { verifyToken } from './token.js'

const secret = 'a secret of at least thirty-two bytes'
const key = createSecretKey(Buffer.from(secret))
process.env.JWT_SECRET = secret
delete process.env.JWT_ALGORITHM

async function expected(token: string): Promise<string> {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  // Unlike us, jose accepts a signature whose last character differs only in bits that a base64url decoder ignores.
  const isCanonical = Buffer.from(signature, 'base64url').toString('base64url') === signature
  try {
    const { payload, protectedHeader } = await compactVerify(token, key, { algorithms: ['HS256'] })
    if (!isCanonical || protectedHeader.crit !== undefined || !isUtf8(payload))
      return 'INVALID_TOKEN'
    return outcomeOf(JSON.parse(Buffer.from(payload).toString()))
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof SyntaxError) return 'INVALID_TOKEN'
    throw error
  }
}

function outcomeOf(claims: unknown): string {
  if (typeof claims !== 'object' || claims === null) return 'INVALID_TOKEN'
  const { sub, exp, nbf = 0, iat = 0 }: Partial<Record<string, unknown>> = claims
  const now = Date.now() / 1000
  if (Number.isFinite(exp) && Number(exp) <= now) return 'TOKEN_EXPIRED'
  const areTyped = typeof sub === 'string' && [exp, nbf, iat].every(Number.isFinite)
  return areTyped && Number(nbf) <= now ? 'let in' : 'INVALID_TOKEN'
}

const verify = (token: string) => verifyToken(token, environmentSigning())

function actual(token: string): string {
  try {
    verify(token)
    return 'let in'
  } catch (error) {
    if (error instanceof ApiError) return String(error.code)
    throw error
  }
}

function sign(header: string, payload: string): string {
  return mintToken(payload, { secret: process.env.JWT_SECRET ?? '', header })
}

const goodHeader = '{"alg":"HS256","typ":"JWT"}'
const goodPayload = '{"sub":"a","exp":9000000000}'
const good = sign(goodHeader, goodPayload)

// Few of the random tokens are both intact and expired, so the test needs thousands.
test('10,000 random and altered tokens have the same outcome as with jose', async () => {
  const below = randomNumbers(7)
  const pick = <T>(choices: readonly T[]): T => choices[below(choices.length)] as T // `choices` is never empty
  const headers = [
    ...[goodHeader, '{"alg":"HS256"}', '{"alg":"HS384"}', '{"alg":"none"}'],
    ...['{"alg":"HS256","crit":["exp"]}', '{"alg":"HS256","b64":false}', '{"alg":["HS256"]}'],
    ...['{"typ":"JWT"}', '[]', 'null', '"HS256"', '{', '{"alg":"HS256","alg":"none"}'],
    ...['{"__proto__":{"alg":"HS256"}}'],
  ]
  const payloads = [
    ...[goodPayload, goodPayload, '{"sub":"a","exp":1}', '{"sub":"a","exp":0}'],
    ...['{"sub":1,"exp":9000000000}', '{"sub":"a","exp":9e9,"nbf":8e9}'],
    ...['{"sub":"a","exp":8e9,"iat":1.5}', '{"sub":"a","exp":9e9,"iat":"1"}', '{"exp":1.5}'],
    ...['{"sub":"a","exp":9000000000.25,"nbf":0.5}', '{"sub":"a","exp":1e400}'],
    ...['{"sub":"a","exp":9e9,"nbf":null}', '{"sub":"a","exp":"9e9"}', '{"exp":9000000000}'],
    ...['{"sub":"a","exp":9e9,"iat":null}', '{"sub":null,"exp":9e9}', '{"sub":"a","exp":null}'],
    ...['{"sub":["a"],"exp":9e9}', '{"sub":"a","exp":9e9,"iat":true}', '"a"'],
    ...['[]', 'null', '1', '\u{feff}{}', ''],
  ]
  const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \u00e9'
  const counts = new Map<string, number>()
  for (let count = 0; count < 10_000; count += 1) {
    let token = below(2) === 0 ? good : sign(pick(headers), pick(payloads))
    for (let changes = below(3); changes > 0; changes -= 1) {
      const place = below(8) === 0 ? token.length - 1 : below(token.length + 1)
      const kept = token.slice(place + below(2))
      token = token.slice(0, place) + (below(3) === 0 ? '' : pick([...characters])) + kept
    }
    const outcome = actual(token)
    assert.equal(outcome, await expected(token), token)
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  }
  for (const outcome of ['let in', 'TOKEN_EXPIRED', 'INVALID_TOKEN']) {
    assert.ok((counts.get(outcome) ?? 0) > 40, [...counts].join(' '))
  }
})

for (const algorithm of ['HS256', 'HS384', 'HS512']) {
  test(`jose verifies tokens that this service signs with ${algorithm}`, async () => {
    const signing = followSecret(
      () => secret,
      () => algorithm,
    )()
    const before = Math.floor(Date.now() / 1000)
    const token = signToken('é "a"', 60, signing)
    const { payload, protectedHeader } = await jwtVerify(token, key, { algorithms: [algorithm] })
    assert.deepEqual(protectedHeader, { alg: algorithm, typ: 'JWT' })
    const { iat = 0 } = payload
    assert.ok(iat >= before && iat <= Date.now() / 1000)
    assert.deepEqual(payload, { sub: 'é "a"', iat, exp: iat + 60 })
  })
}

function tokenOf(caller: number, length: number): string {
  return sign(goodHeader, `{"sub":"${String(caller).padEnd(length, 'a')}","exp":9000000000}`)
}

test('verified tokens are cached up to 8 MiB, and rejected tokens are not', () => {
  process.env.JWT_SECRET = `${secret} of this test`
  const all = Array.from({ length: 2000 }, (_, caller) => tokenOf(caller, 1100))
  const forged = all.map((token) => `${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`)
  const known = all.map((token) => verify(token))
  for (const token of forged) assert.equal(actual(token), 'INVALID_TOKEN')
  assert.ok(all.every((token, place) => verify(token) === known[place]))
  for (let caller = 2000; caller < 2250; caller += 1) verify(tokenOf(caller, 1100))
  assert.notEqual(verify(all[0] ?? ''), known[0])
  process.env.JWT_SECRET = secret
})

test('a cached token does not keep its Authorization header in memory', () => {
  const verifyOneOf = (caller: number) =>
    verify(`Bearer${' '.repeat(15_000)}${tokenOf(caller, 10)}`.slice(15_006))
  verifyOneOf(0)
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let caller = 1; caller <= 2000; caller += 1) verifyOneOf(caller)
  collectGarbage()
  const bytes = process.memoryUsage().heapUsed - before
  assert.ok(bytes < 2000 * 1000, `${bytes} bytes`) // tokens that keep their headers would take 32 MB
})

test('a token is valid from its nbf on, even within the same millisecond', () => {
  for (let count = 0; count < 20; count += 1) {
    const nbf = (Date.now() + 0.999) / 1000
    assert.equal(actual(sign(goodHeader, JSON.stringify({ sub: 'a', exp: 9e9, nbf }))), 'let in')
    const soon = JSON.stringify({ sub: 'a', exp: 9e9, nbf: nbf + 60 })
    assert.equal(actual(sign(goodHeader, soon)), 'INVALID_TOKEN')
  }
})
