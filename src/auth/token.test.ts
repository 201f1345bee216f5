/** What the service does not show: which tokens are cached. */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, test } from 'node:test'
import { ApiError } from '../interface/errors.js'
import { signToken } from './sign.js'
import { verifyToken } from './token.js'

const secret = 'a secret of at least thirty-two bytes'

beforeEach(() => {
  process.env.JWT_SECRET = secret
  delete process.env.JWT_ALGORITHM
})
afterEach(() => {
  delete process.env.JWT_SECRET
})

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/** A token with any payload, correctly signed. */
function sign(payload: string): string {
  const signed = `${base64url('{"alg":"HS256"}')}.${base64url(payload)}`
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

/** Whether a token was remembered: what is known of it is then the same object each time. */
function isRemembered(token: string): boolean {
  const known = verifyToken(token)
  return verifyToken(token) === known
}

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
