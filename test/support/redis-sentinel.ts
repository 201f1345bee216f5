/** Starts Redis sentinels for a test, and servers that can be cut off from them but not from services. */

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, ownProcess } from './process.js'
import { ownRedis } from './redis.js'
import { tcpProxy } from './tcp-proxy.js'
import { emptyFolder } from './tools.js'

export const primaryName = 'main'
const inner = '127.0.0.9' // source address of sentinels and replicas

export type WatchedServer = Awaited<ReturnType<typeof watchedServer>>

/** Returns a server that has not been started. All clients reach it through a proxy. */
export async function watchedServer(...settings: string[]) {
  const ownPort = await freePort()
  let isCutOff = false
  const port = await tcpProxy(
    () => connect(ownPort, '127.0.0.1'),
    (client, server) => {
      const isInner = client.remoteAddress?.endsWith(inner)
      const pass = (to: typeof client) => (data: Buffer) => {
        if (!(isInner && isCutOff)) to.write(data)
      }
      client.on('data', pass(server))
      server.on('data', pass(client))
    },
  )
  const own = ownRedis(
    ...['--port', String(ownPort), '--bind', '127.0.0.1', '--bind-source-addr', inner],
    ...['--replica-announce-ip', '127.0.0.1', '--replica-announce-port', String(port)],
    ...['--repl-diskless-sync-delay', '0', '--protected-mode', 'no'],
    ...settings,
  )
  return {
    ...own,
    port,
    /** Drops all data between the server and its sentinels and replicas. */
    cutOff(): void {
      isCutOff = true
    },
  }
}

export type OwnSentinel = Awaited<ReturnType<typeof ownSentinel>>

export async function ownSentinel(primaryPort: number, settings: readonly string[]) {
  const folder = emptyFolder()
  const port = await freePort()
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `bind-source-addr ${inner}`,
    'protected-mode no',
    'sentinel announce-ip 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${primaryName} 127.0.0.1 ${primaryPort} 2`,
    // These times, in ms, suit a busy machine. Sentinels start another failover only after 2 × 2000 ms.
    `sentinel down-after-milliseconds ${primaryName} 1000`,
    `sentinel failover-timeout ${primaryName} 2000`,
    ...settings,
  ]
  const file = join(folder, 'sentinel.conf')
  writeFileSync(file, `${lines.join('\n')}\n`)
  const options = { cwd: folder, env: process.env }
  const sentinel = ownProcess(['redis-server', file, '--sentinel'], options)
  await sentinel.printed(/Sentinel ID is/)

  async function command(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)('redis-cli', ['-p', String(port), ...args])
    return stdout.trimEnd()
  }

  // By default, a sentinel may take ten seconds to find a new replica.
  await command('sentinel', 'debug', 'info-period', '1000')

  return {
    port,
    command,

    async kill(signal: NodeJS.Signals): Promise<void> {
      sentinel.child.kill(signal)
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await sentinel.ended()
    },
  }
}
