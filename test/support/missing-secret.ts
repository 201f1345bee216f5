/** Checks a service that was started without a usable secret (interface §5.5). */

import assert from 'node:assert/strict'
import { serviceAt } from '../conformance/client.js'
import { record } from '../conformance/expect.js'
import { assertRefused } from '../decisions/expect.js'
import type { OwnProcess } from './process.js'

export const withoutSecret = [
  { variables: {}, says: /^JWT_SECRET is not set: .* type export JWT_SECRET=\$\(node -p / },
  { variables: { JWT_SECRET: '' }, says: /^JWT_SECRET is not set: .* type export JWT_SECRET=/ },
  {
    variables: { JWT_SECRET: 'a secret of at least thirty-two bytes', JWT_ALGORITHM: 'RS256' },
    says: /^JWT_ALGORITHM is not one of HS256, .*: .* type unset JWT_ALGORITHM /,
  },
] as const

export async function assertServesWithoutSecret(
  { child, printed, ended }: OwnProcess,
  says: RegExp = withoutSecret[0].says,
): Promise<void> {
  const output = await printed(/"level":"error".*\n/)
  const lines = output.split('\n').filter((line) => line !== '')
  const [listening, error, ...others] = lines.map((line) => record(JSON.parse(line)))
  assert.deepEqual([error?.level, others], ['error', []], output)
  assert.match(String(error?.msg), says)

  const service = serviceAt(new URL(`${listening?.url}/api/v1`), 'a secret')
  const health = await service.request('GET', '/health')
  assert.equal(health.status, 503)
  assert.equal(record(health.json()).status, 'unhealthy')
  assert.deepEqual(record(health.json()).unhealthy_subsystems, ['auth'])
  const token = service.validToken()
  assertRefused(await service.request('GET', '/items', { token }), 503, 'AUTH_NOT_CONFIGURED')
  assertRefused(await service.request('GET', '/items'), 401, 'MISSING_TOKEN')
  child.kill('SIGTERM')
  assert.deepEqual(await ended(), [0, null])
}
