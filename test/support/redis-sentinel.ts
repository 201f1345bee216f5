/** Private sentinels, each a process of its own. */

import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ownProcess } from './own-process.js'
import { freePort } from './process.js'

export interface OwnSentinel {
  readonly port: number
  /** Sends a command. @returns the reply as `redis-cli` prints it. */
  command(...args: string[]): Promise<string>
  kill(): Promise<void>
}

/** The name of the primary that is watched. */
export const primaryName = 'main'

/**
 * A sentinel that has started, and ends with the test, or the test file, that starts it.
 * @param settings further lines of its configuration.
 */
export async function ownSentinel(
  primaryPort: number,
  settings: readonly string[],
): Promise<OwnSentinel> {
  const folder = mkdtempSync(join(tmpdir(), 'item-store-'))
  const port = await freePort()
  const lines = [
    ...(settings.includes('tls-replication yes')
      ? ['port 0', `tls-port ${port}`]
      : [`port ${port}`]),
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${primaryName} 127.0.0.1 ${primaryPort} 2`,
    // In milliseconds: long enough for a busy machine; another failover may follow after twice the latter.
    `sentinel down-after-milliseconds ${primaryName} 1000`,
    `sentinel failover-timeout ${primaryName} 2000`,
    ...settings,
  ]
  const file = join(folder, 'sentinel.conf')
  writeFileSync(file, `${lines.join('\n')}\n`)
  const options = { cwd: folder, env: process.env }
  const sentinel = ownProcess(['redis-server', file, '--sentinel'], options)
  await sentinel.printed(/Sentinel ID is/)

  return {
    port,

    async command(...args) {
      const { stdout } = await promisify(execFile)('redis-cli', ['-p', String(port), ...args])
      return stdout.trimEnd()
    },

    async kill() {
      sentinel.child.kill('SIGKILL')
      await sentinel.ended()
    },
  }
}
