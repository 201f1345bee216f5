/**
 * A cluster: a connection to each of its masters.
 *
 * The client's own cluster is not used: in it, requests for a server that does not reply wait forever, although a
 * replica has taken over (bench/CHOICES.md).
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ClusterAddress } from './address.js'
import { type Command, type OnCheck, type RedisReply, type Reply, withTimeout } from './client.js'
import { pauseAfter, RedisConnection } from './connection.js'
import { errorCodeOf, NotConnectedError, ReachabilityLog, TimeoutError } from './errors.js'
import type { Traffic } from './in-flight.js'
import { mastersOf, type Redirection, redirectionOf, SlotTable } from './slots.js'

/** Maximum number of redirections that a command follows. */
const maxRedirections = 5
/** Number of servers asked at a time for the table of slots; the first reply counts. */
const askedAtOnce = 3
const silent = { warn() {}, lost() {}, found() {} }

export interface ClusterOptions {
  /** Maximum time to wait for a reply, for the in-flight limit, and for a connection, in milliseconds. */
  readonly timeout: number
  readonly log: Pick<Logger, 'info' | 'warn' | 'child'>
  readonly traffic: Traffic
  readonly onCheck?: OnCheck
}

/** Commands for one server, and their indexes among all. */
interface Share {
  readonly indexes: number[]
  readonly commands: Command[]
}

export class Cluster {
  readonly #address: ClusterAddress
  readonly #options: ClusterOptions
  readonly #log: ReachabilityLog
  readonly #closing = new AbortController()
  readonly #table: SlotTable
  /** By host and port: the masters, and servers that a redirection has named since the table was read. */
  readonly #connections = new Map<string, RedisConnection>()
  /** Host and port of the masters when the table was read last. */
  #masters: ReadonlySet<string> = new Set()

  constructor(address: ClusterAddress, options: ClusterOptions) {
    this.#address = address
    this.#options = options
    this.#log = new ReachabilityLog(options.log)
    this.#table = new SlotTable({
      read: (isByHosts) => this.#readTable(isByHosts),
      connect: (masters) =>
        Promise.all([...masters].map((master) => this.#connectionTo(master).firstAttempt)),
      onAdopted: (masters) => this.#adopt(masters),
      onComplete: () => this.#logIfReady(),
      onFailure: (error) => this.#log.lost(error),
      signal: this.#closing.signal,
    })
  }

  get firstAttempt(): Promise<void> {
    return this.#table.firstAttempt
  }

  /** Whether every slot has a master, and each of them can be reached. */
  get isReady(): boolean {
    const connections = [...this.#connections.values()]
    return this.#table.isComplete && connections.every(({ isReady }) => isReady)
  }

  /** Returns the connection to the server that has the key. */
  serverOf(key: string): RedisConnection | undefined {
    return this.#connections.get(this.#table.masterOf(key) ?? '')
  }

  /** Whether a reply of unknown length may be asked of the server that has the key. */
  hasRoom(key: string): boolean {
    return this.serverOf(key)?.hasRoom() ?? true
  }

  /** Sends a command to the server that has the key. @throws {Error} for `storeError`, after a bounded time. */
  async send(command: Command, key: string): Promise<RedisReply> {
    const deadline = performance.now() + this.#options.timeout
    try {
      return await this.#sendByTable(command, key, deadline)
    } catch (error) {
      if (!(error instanceof NotConnectedError)) throw error
      // Nothing was sent. The server may be gone, with another one in its place.
      await withTimeout(deadline - performance.now(), this.#table.untilRead()).catch(() => {
        throw error
      })
      return await this.#sendByTable(command, key, deadline)
    }
  }

  /**
   * Sends commands that change nothing, as one call to each server. A command that its server does not execute is
   * sent again by itself, because the key may have moved.
   * @returns the replies in the order of the commands.
   * @throws {Error} like `send`, but not for error replies.
   */
  async sendTogether(
    commands: readonly Command[],
    keys: readonly string[],
  ): Promise<readonly Reply[]> {
    const shares = new Map<RedisConnection | undefined, Share>()
    for (const [index, command] of commands.entries()) {
      const server = this.serverOf(keys[index] ?? '')
      const share = shares.get(server) ?? { indexes: [], commands: [] }
      shares.set(server, share)
      share.indexes.push(index)
      share.commands.push(command)
    }
    const replies: Reply[] = []
    const sendAgain = async (index: number) => {
      const [command, key] = [commands[index], keys[index]]
      if (command === undefined || key === undefined) return
      replies[index] = await this.send(command, key).catch((error) => error)
    }
    const sent = [...shares].map(async ([server, { indexes, commands }]) => {
      const received = await server?.sendTogether(commands).catch((error) => {
        if (!(error instanceof NotConnectedError)) throw error
      })
      for (const [order, index] of indexes.entries()) {
        replies[index] = received?.[order] ?? new NotConnectedError(undefined)
      }
      const failed = indexes.filter((index) => replies[index] instanceof Error)
      await Promise.all(failed.map(sendAgain))
    })
    await Promise.all(sent)
    return replies
  }

  close(): void {
    this.#closing.abort()
    for (const connection of this.#connections.values()) connection.close()
  }

  async #sendByTable(command: Command, key: string, deadline: number): Promise<RedisReply> {
    const address = this.#table.masterOf(key) ?? ''
    const connection = this.#connections.get(address)
    if (connection === undefined) throw new NotConnectedError(this.#table.cause)
    try {
      return await connection.send(command)
    } catch (error) {
      if (errorCodeOf(error) === 'CLUSTERDOWN') this.#table.markOutdated()
      const redirection = redirectionOf(error, address)
      if (redirection === undefined) throw error
      const reply = this.#follow(redirection, command, key, deadline)
      return await withTimeout(deadline - performance.now(), reply)
    }
  }

  /** Sends a command that a server has redirected. */
  async #follow(
    first: Redirection,
    command: Command,
    key: string,
    deadline: number,
  ): Promise<RedisReply> {
    let { address, isAsk } = first
    for (let count = 1; ; count += 1) {
      this.#options.traffic.redirections += 1
      // While one takes over, two servers may redirect to each other.
      if (count > 1) await pauseAfter(count - 2, this.#closing.signal)
      const connection = this.#connectionTo(address)
      await connection.firstAttempt
      if (performance.now() > deadline) throw new TimeoutError() // the caller has one already
      if (!isAsk) this.#table.correct(key, address)
      try {
        return await connection.send({ ...command, isAsking: isAsk })
      } catch (error) {
        const next = redirectionOf(error, address)
        if (next === undefined || count === maxRedirections) throw error
        ;({ address, isAsk } = next)
      }
    }
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
          this.#table.markOutdated() // another server may have taken over
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

  async #readTable(isByHosts: boolean): Promise<Map<number, string>> {
    const ready = [...this.#connections].filter(([, { isReady }]) => isReady)
    const start = Math.floor(Math.random() * ready.length)
    const asked = [...ready.slice(start), ...ready.slice(0, start)].slice(0, askedAtOnce)
    const replies =
      isByHosts || asked.length === 0
        ? this.#address.hosts.map((host) => this.#askHost(host))
        : asked.map(([address, connection]) => mastersBy(connection, address))
    return await Promise.any(replies).catch(({ errors }: AggregateError) => {
      throw errors[0]
    })
  }

  async #askHost(host: string): Promise<Map<number, string>> {
    const url = this.#address.urlOf(host)
    const { timeout, traffic } = this.#options
    const connection = new RedisConnection({
      url: () => url,
      isClusterNode: true,
      timeout,
      traffic,
      log: silent,
      reachability: silent,
    })
    try {
      await connection.firstAttempt
      return await mastersBy(connection, host)
    } finally {
      connection.close()
    }
  }

  /** Retires servers that are no masters any more, and logs what has changed since the start. */
  #adopt(masters: ReadonlySet<string>): void {
    const before = this.#masters
    this.#masters = masters
    const { log } = this.#options
    for (const server of before.size > 0 ? masters : []) {
      if (!before.has(server)) log.info({ server }, 'the server now has slots of the cluster')
    }
    for (const server of before) {
      if (!masters.has(server))
        log.info({ server }, 'the server no longer has slots of the cluster')
    }
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

async function mastersBy(
  connection: RedisConnection,
  address: string,
): Promise<Map<number, string>> {
  const { value } = await connection.send({ parts: ['CLUSTER', 'SLOTS'] })
  return mastersOf(value, address)
}
