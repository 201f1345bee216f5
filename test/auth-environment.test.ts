/** Tests that `JWT_SECRET` and `JWT_ALGORITHM` are read at each verification (spec §5.5). */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { beforeEach, test } from 'node:test'
import { record } from './conformance/expect.js'
import { mintToken, validClaims } from './conformance/tokens.js'
import { assertRefused } from './decisions/expect.js'
import { ownApp } from './support/own-app.js'
import { openSocket } from './support/socket.js'

type Auth = Partial<Record<'JWT_SECRET' | 'JWT_ALGORITHM', string | undefined>>

const secret = 'a secret of at least thirty-two bytes'

const app = await ownApp()
beforeEach(() => setAuth({ JWT_SECRET: secret }))

const unusable: [title: string, env: Auth][] = [
  ['JWT_SECRET unset', {}],
  ['JWT_SECRET empty', { JWT_SECRET: '' }],
  ['JWT_SECRET that was not UTF-8', { JWT_SECRET: '\ufffd'.repeat(32) }],
  ...['RS256', 'none', 'hs256', 'HS256,none', 'toString'].map((name): [string, Auth] => [
    `JWT_ALGORITHM ${name}`,
    { JWT_SECRET: secret, JWT_ALGORITHM: name },
  ]),
]
for (const [title, env] of unusable) {
  test(`§4.1 §5.5 ${title}: 503 AUTH_NOT_CONFIGURED for any token, unhealthy, and a line in the log`, async () => {
    const { log, request } = await ownApp() // a new app, because only its first failure of each kind is logged immediately
    const list = (sent: string) => request('GET', '/items', { token: sent })
    const before = token(secret)
    assert.equal((await list(before)).status, 200)
    setAuth(env)
    const tokens = [
      ...[before, token(''), token(secret, 'none'), token('', 'none'), 'not-a-jwt'],
      token(secret, env.JWT_ALGORITHM || 'HS256'),
    ]
    const answers = []
    for (const sent of tokens) answers.push(await list(sent))
    for (const answer of answers) assertRefused(answer, 503, 'AUTH_NOT_CONFIGURED')
    assertRefused(await request('GET', '/items'), 401, 'MISSING_TOKEN')
    assert.equal(log[0]?.level, 50)
    assert.equal(log[0]?.session_id, answers[0]?.headers['x-session-id'])

    const answer = await request('GET', '/health')
    const { status, services_summary, unhealthy_subsystems } = record(answer.json())
    assert.deepEqual([answer.status, status], [503, 'unhealthy'])
    assert.deepEqual(services_summary, { total: 2, healthy: 1, unhealthy: 1 })
    assert.deepEqual(unhealthy_subsystems, ['auth'])

    setAuth({ JWT_SECRET: secret })
    assert.equal((await list(before)).status, 200)
    assert.equal((await request('GET', '/health')).status, 200)
    const printed = JSON.stringify([log, ...answers.map(({ text }) => text)])
    assert.ok(!printed.includes(secret))
  })
}

test('§5.5 a changed JWT_SECRET takes effect for every later request, even between other verifications', async () => {
  const request = `GET /api/v1/items HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token(secret)}\r\n\r\n`
  const [busy, other] = [openSocket(app.baseUrl).resume(), openSocket(app.baseUrl)]
  for (const [name, soon] of Object.entries({ setImmediate, setTimeout, queueMicrotask })) {
    for (let round = 0; round < 100; round += 1) {
      setAuth({ JWT_SECRET: secret })
      busy.write(request.repeat(20)) // tokens are verified while the secret changes
      await once(busy, 'data')
      soon(() => {
        setAuth({ JWT_SECRET: 'another secret' })
        other.write(request)
      })
      const [answer] = await once(other, 'data')
      assert.match(String(answer), /^HTTP\/1\.1 401 /, `${name}, round ${round}`)
    }
  }
})

test('§5.5 JWT_ALGORITHM is HS256 by default, and a change takes effect from the next request on', async () => {
  const algorithms = ['HS256', 'HS384', 'HS512', 'none']
  const tokens = algorithms.map((name) => [name, token(secret, name)] as const)
  for (const algorithm of [undefined, 'HS256', 'HS384', 'HS512', undefined, 'HS512', 'HS384']) {
    setAuth({ JWT_SECRET: secret, JWT_ALGORITHM: algorithm })
    for (const [name, sent] of tokens) {
      const answer = await list(sent)
      if (name === (algorithm ?? 'HS256')) assert.equal(answer.status, 200)
      else assertRefused(answer, 401, 'INVALID_TOKEN')
    }
  }
})

test('§5.5 §8 a secret is used unchanged, even if it is short, with spaces and non-ASCII characters', async () => {
  const odd = ' gehe¡m 🦄 '
  setAuth({ JWT_SECRET: odd })
  assert.equal((await list(token(odd))).status, 200)
  assertRefused(await list(token(odd.trim())), 401, 'INVALID_TOKEN')
})

function setAuth(auth: Auth): void {
  for (const name of ['JWT_SECRET', 'JWT_ALGORITHM'] as const) {
    const value = auth[name]
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}

function token(signedWith: string, algorithm = 'HS256'): string {
  return mintToken(validClaims(), { secret: signedWith, algorithm })
}

function list(sent: string) {
  return app.request('GET', '/items', { token: sent })
}
