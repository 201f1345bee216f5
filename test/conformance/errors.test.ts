/** Specification §7: errors. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError, record } from './expect.js'
import { useService } from './service.js'
import { inSeconds } from './tokens.js'

const service = await useService()
const expired = { authorization: `Bearer ${service.mint({ sub: 'a', exp: inSeconds(-60) })}` }

const table = [
  { title: 'no Authorization header', status: 401, code: 'MISSING_TOKEN', headers: {} },
  {
    title: 'scheme is not Bearer',
    status: 401,
    code: 'MISSING_TOKEN',
    headers: { authorization: 'Digest a="b"' },
  },
  { title: 'exp is in the past', status: 401, code: 'TOKEN_EXPIRED', headers: expired },
  {
    title: 'signature mismatch',
    status: 401,
    code: 'INVALID_TOKEN',
    headers: bearer(service.mint({ sub: 'a', exp: inSeconds(60) }, { secret: 'another' })),
  },
  { title: 'malformed JWT', status: 401, code: 'INVALID_TOKEN', headers: bearer('malformed') },
  {
    title: 'wrong algorithm',
    status: 401,
    code: 'INVALID_TOKEN',
    headers: bearer(service.mint({ sub: 'a', exp: inSeconds(60) }, { algorithm: 'HS512' })),
  },
  {
    title: 'request body without data',
    status: 422,
    code: 'VALIDATION_ERROR',
    headers: bearer(service.validToken()),
  },
]
for (const { title, status, code, headers } of table) {
  test(`§7 ${title}: ${status} ${code}, all within detail, with a session_id (§7.1)`, async () => {
    const answer = await service.request('POST', '/items', { body: '{}', headers })
    assertError(answer, status, code)
    assert.deepEqual(Object.keys(record(answer.json())), ['detail'])
  })
}

function bearer(token: string) {
  return { authorization: `Bearer ${token}` }
}
