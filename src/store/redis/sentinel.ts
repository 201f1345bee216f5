/** One sentinel: which server it names as the primary, and that it has news. @module */

import type { SentinelAddress } from './address.js'
import { type Client, open, type RedisValue, withTimeout } from './client.js'
import { TimeoutError } from './errors.js'
import { reasonOf } from './reachability-log.js'

/** Maximum time to wait for the answers of sentinels, in milliseconds. */
export const answerTimeout = 1000

/** What one sentinel says. */
export interface Answer {
  /** Host and port of the primary. */
  readonly address: string
  /** Number of the last failover that it knows of: sentinels with a higher number know better. */
  readonly epoch: number
  /** Whether the primary is up; it is down if the sentinel cannot reach it, and retiring in a planned failover. */
  readonly state: 'up' | 'down' | 'retiring'
}

/** The connections to one sentinel: one for questions, one for its news, as that protocol version requires. */
export class Sentinel {
  /** Whether it answered in time when it was asked last. */
  isPresent = true
  #isAsked = false
  readonly #host: string
  readonly #address: SentinelAddress
  readonly #timeout: number
  readonly #signal: AbortSignal
  readonly #onNews: () => void
  #clients: readonly [asked: Client, listening: Client] | undefined

  constructor(
    host: string,
    address: SentinelAddress,
    timeout: number,
    signal: AbortSignal,
    onNews: () => void,
  ) {
    this.#host = host
    this.#address = address
    this.#timeout = timeout
    this.#signal = signal
    this.#onNews = onNews
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
      // In this order: if both change in between, an old epoch comes with the new address.
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
      await withTimeout(this.#timeout, listening.client.pSubscribe('*', this.#onNews)).catch(
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
    // A server of any kind refuses a password if it requires none.
    return await openBoth(false).catch((error: unknown) => {
      if (/^(?:NOAUTH|NOPERM) /.test(reasonOf(error))) return openBoth(true)
      throw error
    })
  }
}

/** @param fields what SENTINEL MASTER replies: names and values in turn. */
function answerIn(fields: RedisValue, named: RedisValue): Answer {
  const texts = Array.isArray(fields) ? fields.map(String) : []
  const field = (name: string) => texts[texts.indexOf(name) + 1]
  const address = addressOf(...(Array.isArray(named) ? named.map(String) : []))
  const epoch = Number(field('config-epoch') ?? 0)
  // At the end of a failover, the sentinel that leads it names the new primary, and the fields are of the former one.
  if (address !== addressOf(field('ip'), field('port'))) return { address, epoch, state: 'up' }
  const flags = (field('flags') ?? '').split(',')
  if (flags.includes('s_down')) return { address, epoch, state: 'down' }
  return { address, epoch, state: flags.includes('failover_in_progress') ? 'retiring' : 'up' }
}

function addressOf(host?: string, port?: string): string {
  return host?.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
