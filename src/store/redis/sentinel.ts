/** Asks a Redis Sentinel for the current primary, and subscribes to its events. @module */

import { type Address, hostAndPort } from './address.js'
import { type Client, listIn, open, type RedisValue, withTimeout } from './client.js'
import { reasonOf, TimeoutError } from './errors.js'

/** Maximum wait for answers from the sentinels, in ms. */
export const answerTimeout = 1000

export interface Answer {
  readonly address: string
  /** Number of the last failover that the sentinel knows of. Answers with a lower number than others are ignored. */
  readonly epoch: number
  /** `down` if the sentinel can't reach the primary; `retiring` if a failover has begun. */
  readonly state: 'up' | 'down' | 'retiring'
}

export type Sentinel = ReturnType<typeof createSentinel>

/** Creates a client for one sentinel. Protocol version 2 needs a connection of its own for events. */
export function createSentinel(
  host: string,
  address: Address,
  timeout: number,
  signal: AbortSignal,
  onEvent: () => void,
) {
  const { name } = address
  let isAsked = false
  const clients: Client[] = [] // for commands and for events; empty while not connected

  function close(): void {
    for (const client of clients.splice(0)) client.destroy()
  }

  /** Connects to the sentinel. After an error, the caller must call `close`. */
  async function connect(hasCredentials: boolean): Promise<Client> {
    close()
    const url = address.sentinelUrl(host, hasCredentials)
    const { client } = await open(url, ['SENTINEL', 'MASTER', name], timeout, signal)
    clients.push(client)
    const { client: listening } = await open(url, ['PING'], timeout, signal)
    clients.push(listening)
    await withTimeout(timeout, listening.pSubscribe('*', onEvent))
    const closeBoth = () => {
      if (clients.includes(listening)) close()
    }
    listening.once('end', closeBoth).once('error', closeBoth)
    return client
  }

  const sentinel = {
    isPresent: true, // the last query was answered in time

    close,

    async ask(): Promise<Answer> {
      if (isAsked) throw new TimeoutError('no reply to an earlier query')
      isAsked = true
      sentinel.isPresent = false
      const begun = performance.now()
      try {
        // Tries without a password first, because sentinels reject one that they do not require.
        let [client] = clients
        client ??= await connect(false).catch((error: unknown) => {
          if (/^(?:NOAUTH|NOPERM) /.test(reasonOf(error))) return connect(true)
          throw error
        })
        signal.throwIfAborted()
        // In this order, a failover in between gives the old epoch with the new address, never the reverse.
        const replies = Promise.all([
          client.sendCommand<RedisValue>(['SENTINEL', 'MASTER', name]),
          client.sendCommand<RedisValue>(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]),
          client.sendCommand<RedisValue>(['INFO', 'sentinel']).catch(() => null), // needs a right of its own
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

function answerIn(fields: RedisValue, named: RedisValue, info: RedisValue): Answer {
  const texts = listIn(fields).map(String)
  const field = (name: string) => texts[texts.indexOf(name) + 1]
  const address = hostAndPort(...listIn(named).map(String))
  const epoch = Number(field('config-epoch') ?? 0)
  // At the end of a failover, SENTINEL MASTER may still describe the former primary.
  if (address !== hostAndPort(field('ip'), field('port'))) return { address, epoch, state: 'up' }
  const flags = (field('flags') ?? '').split(',')
  if (flags.includes('s_down')) return { address, epoch, state: 'down' }
  // A sentinel in TILT mode does not go on with a failover.
  const isRetiring = flags.includes('failover_in_progress') && !String(info).includes('tilt:1')
  return { address, epoch, state: isRetiring ? 'retiring' : 'up' }
}
