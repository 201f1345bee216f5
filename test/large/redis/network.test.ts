/** Tests a service that loses the network connection to its Redis server. */

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { create } from '../../conformance/expect.js'
import { assertNothingLost, servedLoad } from '../../support/item-load.js'
import { until } from '../../support/process.js'
import { isInstalled, ownRedisBy } from '../../support/redis.js'
import { unlessMissing } from '../../support/tools.js'
import { assertDown, assertServes, assertUnavailable, serviceOn } from './expect.js'

const hasProgram = spawnSync('ip', ['-V']).status === 0
const isAllowed =
  hasProgram &&
  spawnSync('unshare', '-n ip link add one type veth peer name two'.split(' ')).status === 0

const { skip } = unlessMissing((!isInstalled && 'redis-server') || (!hasProgram && 'ip (iproute2)'))

describe('the network to Redis', { skip: skip || (!isAllowed && 'no network namespaces') }, () => {
  test('the network is cut: requests get a 503, and the service recovers once the network is back', async () => {
    const redis = await remoteRedis()
    const service = await serviceOn(redis.url)
    const { id } = await create(service, {})
    const load = await servedLoad(service)
    await redis.cut()
    assertUnavailable(await service.call('GET', `/items/${id}`), /^The store/)
    await until('requests are refused', () => (load.statuses.get(503) ?? 0) > 50)
    await assertDown(service)
    await redis.mend()
    await assertServes(service)
    await assertNothingLost(load)
    assert.deepEqual(await service.stop(), [0, null])
  })
})

const nowhere = '02:00:00:00:00:01' // a MAC address of no machine

/** Starts a Redis server in its own network namespace, which disappears when the server exits. */
async function remoteRedis() {
  const number = process.pid % 250
  const [link, here, there] = [`store${number}`, `198.18.${number}.1`, `198.18.${number}.2`]
  const settings = ['--port', '6379', '--bind', '0.0.0.0', '--protected-mode', 'no']
  const redis = ownRedisBy(['unshare', '-n'], ...settings)
  await redis.start()
  const pid = String(redis.pid())
  const inside = (...args: string[]) => run('nsenter', '-t', pid, '-n', 'ip', ...args)

  await run('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', pid)
  await run('ip', 'address', 'add', `${here}/30`, 'dev', link)
  await run('ip', 'link', 'set', link, 'up')
  await inside('address', 'add', `${there}/30`, 'dev', 'eth0')
  await inside('link', 'set', 'eth0', 'up')

  const neighbour = [there, 'dev', link]
  return {
    ...redis,
    url: `redis://${there}:6379`,
    cut: () =>
      run('ip', 'neighbour', 'replace', ...neighbour, 'lladdr', nowhere, 'nud', 'permanent'),
    mend: () => run('ip', 'neighbour', 'del', ...neighbour),
  }
}

async function run(program: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(program, args, { timeout: 300_000 })
}
