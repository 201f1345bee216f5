/** A private network: an engine at the end of a link that can be cut. */

import { execFile, spawnSync } from 'node:child_process'
import { describe } from 'node:test'
import { promisify } from 'node:util'
import { unlessMissing } from './program-test.js'
import { isInstalled, type OwnRedis, ownRedisBy } from './redis.js'

const hasProgram = spawnSync('ip', ['-V']).status === 0
/** Whether this machine lets its users create network namespaces. */
const isAllowed =
  hasProgram &&
  spawnSync('unshare', '-n ip link add one type veth peer name two'.split(' ')).status === 0

/** Tests that cut a network: skipped where that is impossible, but in CI never for want of a program. */
export function describeWithNetwork(title: string, body: () => void): void {
  const { skip } = unlessMissing(
    (!isInstalled && 'redis-server') || (!hasProgram && 'ip (iproute2)'),
  )
  describe(title, { skip: skip || (isAllowed ? false : 'there are no network namespaces') }, body)
}

export interface RemoteRedis extends OwnRedis {
  /** Unplugs the cable at the engine's side. */
  unplug(): Promise<void>
  plugIn(): Promise<void>
  /** Makes all packets to the engine vanish, so that TCP neither answers nor resets. */
  swallow(): Promise<void>
  letThrough(): Promise<void>
}

/** An address that no machine has. */
const nowhere = '02:00:00:00:00:01'
let networks = 0

/** Starts the engine, which is all that the network contains, so that it ends with the engine. */
export async function remoteRedis(): Promise<RemoteRedis> {
  networks += 1
  const number = (process.pid + networks) % 250
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
    unplug: () => inside('link', 'set', 'eth0', 'down'),
    plugIn: () => inside('link', 'set', 'eth0', 'up'),
    swallow: () =>
      run('ip', 'neighbour', 'replace', ...neighbour, 'lladdr', nowhere, 'nud', 'permanent'),
    letThrough: () => run('ip', 'neighbour', 'del', ...neighbour),
  }
}

async function run(program: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(program, args, { timeout: 20_000 })
}
