/**
 * `npm run check -- changes`: 16,000 increments of one number and 100,000 creates with keys, while connections are
 * cut and services killed; ends with code 1 if one is lost or made twice. Needs `redis-server`.
 */

import { ownRedis } from '../../support/redis.js'
import { ownCluster } from '../../support/redis-cluster.js'
import { type ChangesOptions, checkCreates, checkIncrements } from '../changes/changes.js'
import { numbers, say } from './report.js'

const { increments, creates } = numbers({ increments: 16_000, creates: 100_000 })
let isRight = true

async function check(
  title: string,
  run: typeof checkCreates,
  options: Omit<ChangesOptions, 'perCut'>,
): Promise<void> {
  const begun = performance.now()
  const { found, cuts, kills } = await run({ perCut: 50, ...options })
  const seconds = Math.round((performance.now() - begun) / 1000)
  say(`${title}: ${found} of ${options.count}, ${cuts} cuts, ${kills} kills, ${seconds} s`)
  isRight &&= found === options.count
}

const [redis, other, cluster] = [ownRedis(), ownRedis(), await ownCluster()]
for (const server of [redis, other, cluster]) await server.start()
await check('creates, in memory', checkCreates, { count: creates })
await check('creates, on Redis', checkCreates, {
  ...{ count: creates, storeUrl: redis.url, perKill: 5_000 },
})
await check('increments, in memory', checkIncrements, { count: increments })
await check('increments, on Redis', checkIncrements, { count: increments, storeUrl: other.url })
await check('increments, on a cluster', checkIncrements, {
  ...{ count: increments, storeUrl: cluster.url },
})
process.exit(isRight ? 0 : 1)
