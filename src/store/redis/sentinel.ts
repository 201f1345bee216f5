/** Asks a Redis Sentinel process for the current primary, and subscribes to its events. @module */

import type { SentinelAddress } from './address.js'
import { type Client, open, type RedisValue, withTimeout } from './client.js'
import { reasonOf, TimeoutError } from './errors.js'

/** Maximum time to wait for the answers of sentinels, in milliseconds. */
export const answerTimeout = 1000

export interface Answer {
  /** Host and port of the primary. */
  readonly address: string
  /** Number of the last failover that the sentinel knows of. Only answers with the highest number count. */
  readonly epoch: number
  /** `down` if the sentinel cannot reach the primary, `retiring` if a failover has begun. */
  readonly state: 'up' | 'down' | 'retiring'
}

export type Sentinel = ReturnType<typeof createSentinel>

/** Asks one sentinel. Protocol version 2 requires a separate connection for events. */
export function createSentinel(
  host: string,
  address: SentinelAddress,
  timeout: number,
  signal: AbortSignal,
  onEvent: () => void,
) {
  const { name } = address
  let isAsked = false
  let clients: readonly [asked: Client, listening: Client] | undefined

  function close(): void {
    for (const client of clients ?? []) client.destroy()
    clients = undefined
  }

  async function connect(hasCredentials: boolean): Promise<readonly [Client, Client]> {
    const url = address.sentinelUrl(host, hasCredentials)
    const { client } = await open(url, ['SENTINEL', 'MASTER', name], timeout, signal)
    const opened = [client]
    try {
      const { client: listening } = await open(url, ['PING'], timeout, signal)
      opened.push(listening)
      await withTimeout(timeout, listening.pSubscribe('*', onEvent))
      const closeBoth = () => {
        if (clients?.[1] === listening) close()
      }
      listening.once('end', closeBoth).once('error', closeBoth)
      return [client, listening]
    } catch (error) {
      for (const each of opened) each.destroy()
      throw error
    }
  }

  const sentinel = {
    /** Whether the sentinel answered the last query in time. */
    isPresent: true,

    close,

    /** @throws {Error} after a bounded time, if the sentinel does not answer. */
    async ask(): Promise<Answer> {
      if (isAsked) throw new TimeoutError('no reply to an earlier query')
      isAsked = true
      sentinel.isPresent = false
      const begun = performance.now()
      try {
        // The first attempt has no password, because sentinels refuse a password that they do not require.
        clients ??= await connect(false).catch((error: unknown) => {
          if (/^(?:NOAUTH|NOPERM) /.test(reasonOf(error))) return connect(true)
          throw error
        })
        signal.throwIfAborted()
        const [client] = clients
        // In this order, a failover between the commands gives the old epoch with the new address, never the reverse.
        const replies = Promise.all([
          client.sendCommand<RedisValue>(['SENTINEL', 'MASTER', name]),
          client.sendCommand<RedisValue>(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]),
        ])
        const answer = answerIn(...(await withTimeout(timeout, replies)))
        sentinel.isPresent = performance.now() - begun < answerTimeout
        return answer
      } catch (error) {
        close()
        throw error
      } finally {
        isAsked = false
      }
    },
  }
  return sentinel
}

/** Combines the replies to SENTINEL MASTER and SENTINEL GET-MASTER-ADDR-BY-NAME. */
function answerIn(fields: RedisValue, named: RedisValue): Answer {
  const texts = Array.isArray(fields) ? fields.map(String) : []
  const field = (name: string) => texts[texts.indexOf(name) + 1]
  const address = addressOf(...(Array.isArray(named) ? named.map(String) : []))
  const epoch = Number(field('config-epoch') ?? 0)
  // At the end of a failover, SENTINEL MASTER may still describe the former primary.
  if (address !== addressOf(field('ip'), field('port'))) return { address, epoch, state: 'up' }
  const flags = (field('flags') ?? '').split(',')
  if (flags.includes('s_down')) return { address, epoch, state: 'down' }
  return { address, epoch, state: flags.includes('failover_in_progress') ? 'retiring' : 'up' }
}

function addressOf(host?: string, port?: string): string {
  return host?.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
