/**
 * A cluster: a connection to each of its masters, and the table of which master has which slot.
 *
 * The client's own cluster is not used: in it, requests for a server that does not reply wait forever, although a
 * replica has taken over (bench/CHOICES.md).
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ClusterAddress } from './address.js'
import {
  type Command,
  connect,
  type OnCheck,
  type RedisValue,
  type Reply,
  withTimeout,
} from './client.js'
import { pauseAfter, RedisConnection } from './connection.js'
import { errorCodeOf, NotConnectedError, ReachabilityLog } from './errors.js'
import type { Traffic } from './in-flight.js'
import { mastersOf, redirectionOf, slotCount, slotOf } from './slots.js'

/** Maximum number of redirections that a command follows. */
const maxRedirections = 5
/** Number of servers asked at a time for the table of slots; the first reply counts. */
const askedAtOnce = 3
const tableCommand = ['CLUSTER', 'SLOTS']

export interface ClusterOptions {
  /** Maximum time to wait for a reply, for the in-flight limit, and for a connection, in milliseconds. */
  readonly timeout: number
  readonly log: Pick<Logger, 'info' | 'warn' | 'child'>
  readonly traffic: Traffic
  readonly onCheck?: OnCheck
}

export class Cluster {
  /** Resolves once the first attempt to read the table has succeeded or failed; there will be others. */
  readonly firstAttempt: Promise<void>
  readonly #address: ClusterAddress
  readonly #options: ClusterOptions
  readonly #log: ReachabilityLog
  readonly #closing = new AbortController()
  /** By host and port: the masters, and servers that a redirection has named since the table was read. */
  readonly #connections = new Map<string, RedisConnection>()
  /** Slots by key: computing one takes 0.3 µs. */
  readonly #slots = new Map<string, number>()
  /** Host and port of the master of each slot that has one. */
  #table = new Map<number, string>()
  /** Host and port of the masters when the table was read last. */
  #servers: string | undefined
  /** Number of attempts to read the table that have failed since one succeeded. */
  #failures = 0
  /** Why the table could not be read last; `undefined` if it was. */
  #cause: unknown
  /** The latest attempt to read the table, and the one that will follow, if the table is outdated. */
  #attempt: Promise<void>
  #nextAttempt: Promise<void> | undefined

  constructor(address: ClusterAddress, options: ClusterOptions) {
    this.#address = address
    this.#options = options
    this.#log = new ReachabilityLog(options.log)
    this.firstAttempt = this.#attempt = this.#readTable()
  }

  /** Whether every slot has a master, and each of them can be reached. */
  get isReady(): boolean {
    const connections = [...this.#connections.values()]
    return this.#table.size === slotCount && connections.every(({ isReady }) => isReady)
  }

  /** Returns the connection to the server that has the key. */
  serverOf(key: string): RedisConnection | undefined {
    return this.#connections.get(this.#masterOf(key))
  }

  /** Whether a reply of unknown length may be asked of the server that has the key. */
  hasRoom(key: string): boolean {
    return this.serverOf(key)?.hasRoom() ?? true
  }

  /**
   * Sends commands as one call to each server. A command that its server has not executed is sent again by itself,
   * because the key may have moved.
   * @returns a reply for each command.
   * @throws {Error} for `storeError`, after a bounded time.
   */
  async send(commands: readonly Command[]): Promise<readonly Reply[]> {
    const deadline = performance.now() + this.#options.timeout
    const masters = commands.map(({ key }) => this.#masterOf(key))
    const replies: Reply[] = []
    const sent = [...new Set(masters)].map(async (master) => {
      const indexes = [...commands.keys()].filter((index) => masters[index] === master)
      const own = indexes.map((index) => commands[index] as Command) // these are its indexes
      const received = await this.#sendTo(master, own)
      for (const [order, index] of indexes.entries()) replies[index] = received[order] as Reply // one for each command
    })
    await Promise.all(sent)
    if (!replies.some((reply) => reply instanceof Error)) return replies
    const settled = commands.map((command, index) => {
      const reply = replies[index] as Reply // one for each command
      const master = masters[index] ?? ''
      return reply instanceof Error ? this.#retry(command, master, reply, deadline) : reply
    })
    return await Promise.all(settled)
  }

  close(): void {
    this.#closing.abort()
    for (const connection of this.#connections.values()) connection.close()
  }

  #masterOf(key: string): string {
    return this.#table.get(this.#slotOf(key)) ?? ''
  }

  #slotOf(key: string): number {
    const slot = this.#slots.get(key) ?? slotOf(key)
    this.#slots.set(key, slot)
    return slot
  }

  /** Sends commands to one server. Without a connection to it, each gets that error in place of a reply. */
  async #sendTo(address: string, commands: readonly Command[]): Promise<readonly Reply[]> {
    const connection = this.#connections.get(address)
    try {
      if (connection === undefined) throw new NotConnectedError(this.#cause)
      return await connection.send(commands)
    } catch (error) {
      if (error instanceof NotConnectedError) return commands.map(() => error)
      throw error
    }
  }

  /**
   * Sends a command again that its server has not executed.
   * @param master host and port of that server.
   * @returns the reply, or the error for which the command is not sent again.
   * @throws {Error} like `send`.
   */
  async #retry(command: Command, master: string, error: Error, deadline: number): Promise<Reply> {
    let [server, reply]: [string, Reply] = [master, error]
    const sendTo = async (address: string, isAsking: boolean) => {
      const sent = this.#sendTo(address, [{ ...command, isAsking }])
      server = address
      ;[reply] = (await withTimeout(deadline - performance.now(), sent)) as [Reply] // one for one command
    }
    if (error instanceof NotConnectedError) {
      // Nothing was sent. The server may be gone, with another one in its place.
      if (this.#cause === undefined)
        await untilSettled(this.#nextAttempt ?? this.#attempt, deadline)
      await sendTo(this.#masterOf(command.key), false)
    }
    for (let count = 0; count < maxRedirections; count += 1) {
      const redirection = redirectionOf(reply, server)
      if (redirection === undefined) break
      this.#options.traffic.redirections += 1
      // While one takes over, two servers may redirect to each other.
      if (count > 0) await pauseAfter(count - 1, this.#closing.signal)
      await untilSettled(this.#connectionTo(redirection.address).firstAttempt, deadline)
      if (!redirection.isAsk) {
        this.#table.set(this.#slotOf(command.key), redirection.address)
        this.#markOutdated() // other slots have moved as well
      }
      await sendTo(redirection.address, redirection.isAsk)
    }
    if (errorCodeOf(reply) === 'CLUSTERDOWN') this.#markOutdated()
    return reply
  }

  #connectionTo(address: string): RedisConnection {
    const known = this.#connections.get(address)
    if (known !== undefined) return known
    const connection = new RedisConnection({
      ...this.#options,
      url: () => this.#address.urlOf(address),
      isClusterNode: true,
      log: this.#options.log.child({ server: address }),
      reachability: {
        lost: (error) => {
          this.#log.lost(error, address)
          this.#markOutdated() // another server may have taken over
        },
        found: () => this.#logIfReady(),
      },
    })
    this.#connections.set(address, connection)
    return connection
  }

  /** Logs that the cluster is back only when all of its masters are. */
  #logIfReady(): void {
    if (this.isReady) this.#log.found()
  }

  /** Has the table read again, after the present attempt and a pause. */
  #markOutdated(): void {
    const readAgain = async () => {
      await this.#attempt
      await pauseAfter(this.#failures, this.#closing.signal)
      this.#nextAttempt = undefined
      this.#attempt = this.#readTable()
      await this.#attempt
    }
    this.#nextAttempt ??= readAgain()
  }

  /** Reads the table. If no server replies, or some slot has no master, there will be another attempt. */
  async #readTable(): Promise<void> {
    const { signal } = this.#closing
    try {
      signal.throwIfAborted()
      const table = await this.#askForTable()
      // A server that has left the cluster knows fewer masters.
      if (table.size >= this.#table.size) await this.#adopt(table)
      const missing = slotCount - table.size
      if (missing > 0) throw new Error(`${missing} of ${slotCount} slots have no server`)
      this.#failures = 0
      this.#cause = undefined
      this.#logIfReady()
    } catch (error) {
      this.#failures += 1
      this.#cause = error
      if (signal.aborted) return
      this.#log.lost(error)
      this.#markOutdated()
    }
  }

  /** Asks some masters, or the hosts of the URL after a failure. @throws {Error} if no server replies. */
  async #askForTable(): Promise<Map<number, string>> {
    const ready = [...this.#connections].filter(([, { isReady }]) => isReady)
    const start = Math.floor(Math.random() * ready.length)
    const asked = [...ready.slice(start), ...ready.slice(0, start)].slice(0, askedAtOnce)
    const replies =
      this.#failures % 2 === 1 || asked.length === 0
        ? this.#address.hosts.map((host) => this.#askHost(host))
        : asked.map(async ([address, connection]) => {
            const [reply] = await connection.send([{ parts: tableCommand, key: '' }])
            if (reply instanceof Error) throw reply
            return mastersOf(reply?.value, address)
          })
    return await Promise.any(replies).catch(({ errors }: AggregateError) => {
      throw errors[0]
    })
  }

  async #askHost(host: string): Promise<Map<number, string>> {
    const { timeout } = this.#options
    const server = { url: this.#address.urlOf(host), isClusterNode: true, timeout }
    const { client } = await connect(server, this.#closing.signal)
    try {
      const reply = client.sendCommand<RedisValue>(tableCommand)
      return mastersOf(await withTimeout(timeout, reply), host)
    } finally {
      client.destroy()
    }
  }

  /** Uses a table once its masters are connected to, so that a slot that has moved is served at once. */
  async #adopt(table: Map<number, string>): Promise<void> {
    const masters = new Set(table.values())
    await Promise.all([...masters].map((master) => this.#connectionTo(master).firstAttempt))
    this.#table = table
    const servers = [...masters].sort().join()
    if (this.#servers !== undefined && this.#servers !== servers) {
      this.#options.log.info({ servers }, 'other servers now have the slots of the cluster')
    }
    this.#servers = servers
    for (const [address, connection] of this.#connections) {
      if (!masters.has(address)) void this.#retire(address, connection)
    }
  }

  /** Closes the connection to a server that is no master any more, once its calls have ended. */
  async #retire(address: string, connection: RedisConnection): Promise<void> {
    this.#connections.delete(address)
    const { signal } = this.#closing
    await delay(this.#options.timeout, undefined, { signal, ref: false }).catch(() => undefined)
    connection.close()
  }
}

/** Waits until a promise is settled, or the time is over. */
async function untilSettled(promise: Promise<void>, deadline: number): Promise<void> {
  await withTimeout(deadline - performance.now(), promise).catch(() => undefined)
}
