/**
 * The connection to the engine: made again whenever it is lost, with a deadline for every answer.
 *
 * The client's own ways are not used for either: its deadline ends when a command is sent, it waits
 * forever for the answer to its greeting, and what it queues while it is not connected is sent later,
 * when nobody waits for it any more. Here each connection has a client of its own. When an answer is
 * late, those to later commands are late too, so the connection is dropped with all that waits on it.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { require } from '../../require.js'
import { notReached, type Purpose, storeError } from './failures.js'
import type { Script } from './scripts.js'

const { createClient, RESP_TYPES }: typeof import('@redis/client') = require('@redis/client')

export interface ConnectionOptions {
  /** `redis:`, `rediss:` or `redis+unix:`, with user, password and number of the database. */
  readonly url: string
  /** Maximum time to wait for the answer to a command, in milliseconds. */
  readonly timeout: number
  /** Is told when the connection is there and when it is lost. */
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** What the engine answers. */
export type Reply = Buffer | number | null | Reply[]

export interface Connection {
  /** Which connection there is, counted from 1; `undefined` while there is none. */
  number(): number | undefined
  /** @throws {StoreError} after a bounded time, whatever happens. */
  send(purpose: Purpose, command: readonly (string | Buffer)[]): Promise<Reply>
  /** Runs a script on one key. @throws {StoreError} after a bounded time, whatever happens. */
  run(
    purpose: Purpose,
    script: Script,
    key: string,
    ...args: readonly (string | Buffer)[]
  ): Promise<Reply>
  /** Nothing may be sent any more; what has no answer yet fails. */
  close(): void
}

type Client = ReturnType<typeof newClient>

/** Shortest and longest time until the next attempt to connect, in milliseconds. */
const pauses = { first: 50, last: 1000 }

/** @returns once the first attempt has succeeded or failed; there will be others. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { timeout, log } = options
  const closing = new AbortController()
  let client: Client | undefined
  let number = 0
  /** Why there is no connection, since when it was lost. */
  let cause: unknown
  /** The cause as it was logged last. */
  let logged: string | undefined

  async function connect(): Promise<Client> {
    const fresh = newClient(options)
    fresh.on('error', (error) => {
      if (fresh === client) lost(error)
    })
    try {
      const isOpen = new Promise((resolve) => fresh.once('connect', resolve))
      const isReady = fresh.connect()
      await Promise.race([isOpen, isReady]) // bounded by `connectTimeout`; it cannot be ended before
      closing.signal.throwIfAborted()
      await inTime(timeout, isReady)
      await inTime(timeout, fresh.sendCommand(['PING'])) // refused without a password it wants
      return fresh
    } catch (error) {
      fresh.destroy()
      throw error
    }
  }

  function lost(error: unknown): void {
    client = undefined
    cause = error
    const reason = reasonOf(error)
    if (reason !== logged) log.warn({ cause: reason }, 'the store cannot be reached')
    logged = reason
  }

  async function stayConnected(firstAttempt: () => void): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      try {
        const fresh = await connect()
        const isGone = new Promise((resolve) => fresh.once('end', resolve).once('error', resolve))
        client = fresh
        number += 1
        if (logged !== undefined) log.info('the store can be reached again')
        logged = undefined
        failures = 0
        firstAttempt()
        await isGone
        fresh.destroy()
      } catch (error) {
        failures += 1
        if (!closing.signal.aborted) lost(error)
        firstAttempt()
      }
      const pause = Math.min(pauses.last, pauses.first * 2 ** failures)
      // Services that lost the same engine do not all come back at the same moment.
      const wait = pause * (0.5 + Math.random() / 2)
      await delay(wait, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }

  /** Calls with the client that there is; the time of all that is done with it is bounded. */
  async function use<T>(purpose: Purpose, call: (client: Client) => Promise<T>): Promise<T> {
    const current = client
    if (current === undefined) throw notReached(purpose, cause)
    try {
      return await call(current)
    } catch (error) {
      if (error instanceof LateError && current === client) {
        lost(error)
        current.destroy()
      }
      throw storeError(error, purpose)
    }
  }

  await new Promise<void>((resolve) => {
    void stayConnected(resolve)
  })

  return {
    number: () => (client === undefined ? undefined : number),

    send: (purpose, command) =>
      use(purpose, (current) => inTime(timeout, current.sendCommand<Reply>(command))),

    run: (purpose, { text, digest }, ...[key, ...args]) =>
      use(purpose, async (current) => {
        const rest = ['1', key, ...args]
        try {
          return await inTime(timeout, current.sendCommand<Reply>(['EVALSHA', digest, ...rest]))
        } catch (error) {
          // The engine forgets scripts when it is started again; nothing has been done then.
          if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
          return await inTime(timeout, current.sendCommand<Reply>(['EVAL', text, ...rest]))
        }
      }),

    close() {
      closing.abort()
      client?.destroy()
      client = undefined
    },
  }
}

/** Where a host has several addresses, none of which answers, only the code says why. */
function reasonOf(error: unknown): string {
  const { message, code }: Record<string, unknown> = Object(error)
  return String(message || code || error)
}

function newClient({ url, timeout }: ConnectionOptions) {
  return createClient({
    url: url.replace(/^redis\+unix:/, 'unix:'),
    RESP: 2, // the newer version adds nothing here but a greeting
    disableOfflineQueue: true,
    commandOptions: { timeout: 0, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    socket: { connectTimeout: timeout, reconnectStrategy: false },
  })
}

/** The answer did not come in time. */
class LateError extends Error {}

/** @throws {LateError} */
function inTime<T>(time: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // What arrived while this process was busy is read before the time counts as over.
      setImmediate(() => reject(new LateError(`no answer within ${time} ms`)))
    }, time)
    const answered = () => clearTimeout(timer)
    answer.then(answered, answered)
    answer.then(resolve, reject)
  })
}
