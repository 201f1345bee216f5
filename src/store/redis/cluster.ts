/**
 * The connections to the masters of a Redis cluster.
 * With the cluster class of `@redis/client`, requests to a silent master wait forever (bench/CHOICES.md). @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { ClusterAddress } from './address.js'
import {
  type Command,
  connect,
  type RedisValue,
  type Reply,
  valueIn,
  withTimeout,
} from './client.js'
import { pauseAfter, RedisConnection, type ServersOptions } from './connection.js'
import { errorCodeOf, NotConnectedError } from './errors.js'
import { createReachabilityLog, type Reachability } from './reachability.js'
import { mastersOf, redirectionOf, slotCount, slotOf } from './slots.js'

/** Maximum number of redirections (MOVED, ASK) that are followed for one command. */
const maxRedirections = 5
/** Number of servers that are asked for the slot table at once. The first reply is used. */
const askedAtOnce = 3
const tableCommand = ['CLUSTER', 'SLOTS']

export class Cluster {
  readonly firstAttempt: Promise<void>
  readonly #address: ClusterAddress
  readonly #options: ServersOptions
  readonly #log: Reachability
  readonly #closing = new AbortController()
  /** Connections by host and port: to masters, and to servers named by recent redirections. */
  readonly #connections = new Map<string, RedisConnection>()
  /** Cache of slots by key, because computing a slot takes 0.3 µs. */
  readonly #slots = new Map<string, number>()
  /** Host and port of the master of each slot. A slot without a master is missing. */
  #table = new Map<number, string>()
  #servers: string | undefined
  #failures = 0
  #cause: unknown
  #attempt: Promise<void>
  /** The next attempt to read the table, if the table is known to be outdated. */
  #nextAttempt: Promise<void> | undefined

  constructor(address: ClusterAddress, options: ServersOptions) {
    this.#address = address
    this.#options = options
    // When a connection is lost, another server may have taken over.
    this.#log = createReachabilityLog(options.log, () => this.#markOutdated())
    this.firstAttempt = this.#attempt = this.#readTable()
  }

  get isReady(): boolean {
    const connections = [...this.#connections.values()]
    return this.#table.size === slotCount && connections.every(({ isReady }) => isReady)
  }

  serverOf(key: string): RedisConnection | undefined {
    return this.#connections.get(this.#masterOf(key))
  }

  hasRoom(key: string): boolean {
    return this.serverOf(key)?.hasRoom() ?? true
  }

  /** See `Servers.send`. A command that its master did not execute is sent once more. */
  async send(commands: readonly Command[]): Promise<readonly Reply[]> {
    const deadline = performance.now() + this.#options.timeout
    const masters = commands.map(({ key }) => this.#masterOf(key))
    const sent = [...new Set(masters)].map(async (master) => {
      const own = commands.filter((_, index) => masters[index] === master)
      return [master, (await this.#sendTo(master, own)).values()] as const
    })
    const received = new Map(await Promise.all(sent))
    const replies = masters.map((master) => received.get(master)?.next().value as Reply) // each command has a reply
    if (!replies.some((reply) => reply instanceof Error)) return replies
    const settled = commands.map((command, index) => {
      const reply = replies[index] as Reply // each command has a reply
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

  /** Sends a command again, if an error proves that its master has not executed the command. */
  async #retry(command: Command, master: string, error: Error, deadline: number): Promise<Reply> {
    let [server, reply]: [string, Reply] = [master, error]
    const sendTo = async (address: string, isAsking: boolean) => {
      const sent = this.#sendTo(address, [{ ...command, isAsking }])
      server = address
      ;[reply] = (await withTimeout(deadline - performance.now(), sent)) as [Reply] // one command has one reply
    }
    if (error instanceof NotConnectedError) {
      // Another server may have taken over from the master.
      const attempt = this.#nextAttempt ?? this.#attempt
      if (this.#cause === undefined) await untilSettled(attempt, deadline)
      await sendTo(this.#masterOf(command.key), false)
    }
    for (let count = 0; count < maxRedirections; count += 1) {
      const redirection = redirectionOf(reply, server)
      if (redirection === undefined) break
      this.#options.traffic.redirections += 1
      // During a failover, two servers may redirect commands to each other.
      if (count > 0) await pauseAfter(count - 1, this.#closing.signal)
      await untilSettled(this.#connectionTo(redirection.address).firstAttempt, deadline)
      if (!redirection.isAsk) {
        this.#table.set(this.#slotOf(command.key), redirection.address)
        this.#markOutdated() // other slots may have moved too
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
        lost: (error) => this.#log.lost(error, address),
        found: () => this.#logIfReady(),
      },
    })
    this.#connections.set(address, connection)
    return connection
  }

  #logIfReady(): void {
    if (this.isReady) this.#log.found()
  }

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

  async #readTable(): Promise<void> {
    const { signal } = this.#closing
    try {
      signal.throwIfAborted()
      const table = await this.#askForTable()
      // A table with fewer slots may come from a server that has left the cluster.
      if (table.size >= this.#table.size) await this.#adopt(table)
      const missing = slotCount - table.size
      if (missing > 0) throw new Error(`${missing} of ${slotCount} slots have no server`)
      this.#failures = 0
      this.#cause = undefined
      this.#logIfReady()
    } catch (error) {
      this.#failures += 1
      this.#cause = error
      if (!signal.aborted) this.#log.lost(error)
    }
  }

  /** @throws {Error} if no host replies. */
  async #askForTable(): Promise<Map<number, string>> {
    const ready = [...this.#connections].filter(([, { isReady }]) => isReady)
    const start = Math.floor(Math.random() * ready.length)
    const asked = [...ready.slice(start), ...ready.slice(0, start)].slice(0, askedAtOnce)
    const replies =
      this.#failures % 2 === 1 || asked.length === 0
        ? this.#address.hosts.map((host) => this.#askHost(host))
        : asked.map(async ([address, connection]) => {
            const [reply] = await connection.send([{ parts: tableCommand, key: '' }])
            return mastersOf(valueIn(reply), address)
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

  /** Connects to all masters before the table is used, so that moved slots are served immediately. */
  async #adopt(table: Map<number, string>): Promise<void> {
    const masters = new Set(table.values())
    await Promise.all([...masters].map((master) => this.#connectionTo(master).firstAttempt))
    this.#table = table
    const servers = [...masters].sort().join()
    if (this.#servers !== undefined && this.#servers !== servers) {
      this.#options.log.info({ servers }, 'the masters of the cluster have changed')
    }
    this.#servers = servers
    for (const [address, connection] of this.#connections) {
      if (!masters.has(address)) void this.#retire(address, connection)
    }
  }

  /** Closes the connection to a former master after the timeout, when all its calls have ended. */
  async #retire(address: string, connection: RedisConnection): Promise<void> {
    this.#connections.delete(address)
    const { signal } = this.#closing
    await delay(this.#options.timeout, undefined, { signal, ref: false }).catch(() => undefined)
    connection.close()
  }
}

/** @param deadline on the clock of `performance.now()`. */
async function untilSettled(promise: Promise<void>, deadline: number): Promise<void> {
  await withTimeout(deadline - performance.now(), promise).catch(() => undefined)
}
