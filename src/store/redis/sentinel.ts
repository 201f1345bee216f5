/** One sentinel: asks it for the primary, and subscribes to its events. @module */

import type { SentinelAddress } from './address.js'
import { type Client, open, type RedisValue, withTimeout } from './client.js'
import { reasonOf, TimeoutError } from './errors.js'

/** Maximum time to wait for the answers of sentinels, in milliseconds. */
export const answerTimeout = 1000

/** The reply of one sentinel. */
export interface Answer {
  /** Host and port of the primary. */
  readonly address: string
  /** Number of the last failover that it knows of. The sentinels with the highest number are right. */
  readonly epoch: number
  /** `down` if the sentinel cannot reach the primary, `retiring` during a planned failover. */
  readonly state: 'up' | 'down' | 'retiring'
}

/** Two connections to one sentinel, for questions and for events, as the protocol version requires. */
export class Sentinel {
  /** Whether it answered in time when it was asked last. */
  isPresent = true
  #isAsked = false
  readonly #host: string
  readonly #address: SentinelAddress
  readonly #timeout: number
  readonly #signal: AbortSignal
  readonly #onEvent: () => void
  #clients: readonly [asked: Client, listening: Client] | undefined

  constructor(
    host: string,
    address: SentinelAddress,
    timeout: number,
    signal: AbortSignal,
    onEvent: () => void,
  ) {
    this.#host = host
    this.#address = address
    this.#timeout = timeout
    this.#signal = signal
    this.#onEvent = onEvent
  }

  async ask(): Promise<Answer> {
    if (this.#isAsked) throw new TimeoutError('no reply to an earlier question')
    this.#isAsked = true
    this.isPresent = false
    const begun = performance.now()
    try {
      this.#clients ??= await this.#connect()
      this.#signal.throwIfAborted()
      const [client] = this.#clients
      const { name } = this.#address
      // In this order, a change in between makes an old epoch come with the new address.
      const replies = Promise.all([
        client.sendCommand<RedisValue>(['SENTINEL', 'MASTER', name]),
        client.sendCommand<RedisValue>(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]),
      ])
      const answer = answerIn(...(await withTimeout(this.#timeout, replies)))
      this.isPresent = performance.now() - begun < answerTimeout
      return answer
    } catch (error) {
      this.close()
      throw error
    } finally {
      this.#isAsked = false
    }
  }

  close(): void {
    for (const client of this.#clients ?? []) client.destroy()
    this.#clients = undefined
  }

  async #connect(): Promise<readonly [Client, Client]> {
    const openBoth = async (hasCredentials: boolean) => {
      const url = this.#address.sentinelUrl(this.#host, hasCredentials)
      const question = ['SENTINEL', 'MASTER', this.#address.name]
      const { client } = await open(url, question, this.#timeout, this.#signal)
      const listening = await open(url, ['PING'], this.#timeout, this.#signal).catch((error) => {
        client.destroy()
        throw error
      })
      const both = [client, listening.client] as const
      await withTimeout(this.#timeout, listening.client.pSubscribe('*', this.#onEvent)).catch(
        (error) => {
          for (const each of both) each.destroy()
          throw error
        },
      )
      const close = () => {
        if (this.#clients === both) this.close()
      }
      listening.client.once('end', close).once('error', close)
      return both
    }
    // Servers and sentinels refuse a password that they do not require.
    return await openBoth(false).catch((error: unknown) => {
      if (/^(?:NOAUTH|NOPERM) /.test(reasonOf(error))) return openBoth(true)
      throw error
    })
  }
}

/**
 * @param fields the reply to SENTINEL MASTER: names and values in turn.
 * @param named the reply to SENTINEL GET-MASTER-ADDR-BY-NAME: host and port.
 */
function answerIn(fields: RedisValue, named: RedisValue): Answer {
  const texts = Array.isArray(fields) ? fields.map(String) : []
  const field = (name: string) => texts[texts.indexOf(name) + 1]
  const address = addressOf(...(Array.isArray(named) ? named.map(String) : []))
  const epoch = Number(field('config-epoch') ?? 0)
  // At the end of a failover, its leader names the new primary while the fields are still of the former one.
  if (address !== addressOf(field('ip'), field('port'))) return { address, epoch, state: 'up' }
  const flags = (field('flags') ?? '').split(',')
  if (flags.includes('s_down')) return { address, epoch, state: 'down' }
  return { address, epoch, state: flags.includes('failover_in_progress') ? 'retiring' : 'up' }
}

function addressOf(host?: string, port?: string): string {
  return host?.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
