/**
 * A cluster: a connection to each of its masters, and the table of which of them has which slot.
 *
 * The client's own cluster is not used: requests for a server that does not answer wait in it forever,
 * although another one has taken over (bench/CHOICES.md).
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ClusterAddress } from './address.js'
import { type Command, type OnCheck, type RedisReply, type Reply, withTimeout } from './client.js'
import { RedisConnection } from './connection.js'
import { errorCodeOf, NotConnectedError, TimeoutError } from './errors.js'
import { pauseAfter } from './pause.js'
import { ReachabilityLog } from './reachability-log.js'
import { mastersOf, type Redirection, redirectionOf, rememberedSlots, slotCount } from './slots.js'
import { sendToEachServer } from './together.js'
import type { Traffic } from './traffic.js'

/** Maximum number of redirections that a command follows. */
const maxRedirections = 5
/** Number of servers asked at a time for the table of slots; the first reply counts. */
const askedAtOnce = 3
const tableCommand = { parts: ['CLUSTER', 'SLOTS'] }
const silent = { warn() {}, lost() {}, found() {} }

export interface ClusterOptions {
  /** Maximum time to wait for a reply, for room in flight, and for a connection, in milliseconds. */
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
  readonly #slotOf = rememberedSlots()
  /** Host and port of the master of each slot that has one. */
  #table = new Map<number, string>()
  /** Host and port of the masters when the table was read last. */
  #masters: ReadonlySet<string> = new Set()
  /** Why the table could not be read last; `undefined` if it was. */
  #cause: unknown
  /** Counts what has made the table outdated, and how much of that the last reading has taken in. */
  #changes = { known: 1, read: 0 }
  /** Ends the wait until the table is outdated. */
  #wake = () => {}
  /** Called after the next attempt to read the table. */
  #awaitingAttempt: (() => void)[] = []

  constructor(address: ClusterAddress, options: ClusterOptions) {
    this.#address = address
    this.#options = options
    this.#log = new ReachabilityLog(options.log)
    this.firstAttempt = this.#nextAttempt()
    void this.#keepTable()
  }

  /** Whether every slot has a master, and each of them can be reached. */
  get isReady(): boolean {
    const connections = [...this.#connections.values()]
    return this.#table.size === slotCount && connections.every(({ isReady }) => isReady)
  }

  /** The server that has the key. */
  serverOf(key: string): RedisConnection | undefined {
    return this.#connections.get(this.#table.get(this.#slotOf(key)) ?? '')
  }

  /** Whether the server that has the key has room for one more reply of unknown length. */
  hasRoom(key: string): boolean {
    return this.serverOf(key)?.hasRoom() ?? true
  }

  /** Sends a command to the server that has the key. @throws {Error} for `storeError`, after a bounded time. */
  async send(command: Command, key: string): Promise<RedisReply> {
    const slot = this.#slotOf(key)
    const deadline = performance.now() + this.#options.timeout
    try {
      return await this.#sendByTable(command, slot, deadline)
    } catch (error) {
      if (!(error instanceof NotConnectedError)) throw error
      // Nothing was sent, and the server may be gone because another one has what it had.
      await withTimeout(deadline - performance.now(), this.#untilRead()).catch(() => {
        throw error
      })
      return await this.#sendByTable(command, slot, deadline)
    }
  }

  /** Sends commands that change nothing, as one call to each server. @throws {Error} like `send`, but for error replies. */
  sendTogether(commands: readonly Command[], keys: readonly string[]): Promise<readonly Reply[]> {
    return sendToEachServer(this, commands, keys)
  }

  close(): void {
    this.#closing.abort()
    this.#wake()
    for (const connection of this.#connections.values()) connection.close()
  }

  async #sendByTable(command: Command, slot: number, deadline: number): Promise<RedisReply> {
    const address = this.#table.get(slot) ?? ''
    const connection = this.#connections.get(address)
    if (connection === undefined) throw new NotConnectedError(this.#cause)
    try {
      return await connection.send(command)
    } catch (error) {
      if (errorCodeOf(error) === 'CLUSTERDOWN') this.#refreshTable()
      const redirection = redirectionOf(error, address)
      if (redirection === undefined) throw error
      const reply = this.#follow(redirection, command, slot, deadline)
      return await withTimeout(deadline - performance.now(), reply)
    }
  }

  /** Sends a command that a server has refused to the one that has the key. */
  async #follow(
    first: Redirection,
    command: Command,
    slot: number,
    deadline: number,
  ): Promise<RedisReply> {
    let { address, isAsk } = first
    for (let count = 1; ; count += 1) {
      this.#options.traffic.redirections += 1
      // While one takes over, two servers may each say that it is the other one.
      if (count > 1) await pauseAfter(count - 2, this.#closing.signal)
      const connection = this.#connectionTo(address)
      await connection.firstAttempt
      if (performance.now() > deadline) throw new TimeoutError() // the caller has got it already
      if (!isAsk) {
        this.#table.set(slot, address)
        this.#refreshTable() // other slots have moved as well
      }
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
          this.#refreshTable() // another server may have taken over
        },
        found: () => this.#logIfReady(),
      },
    })
    this.#connections.set(address, connection)
    return connection
  }

  #refreshTable(): void {
    this.#changes.known += 1
    this.#wake()
  }

  /** Waits until the table is up to date, or cannot be read. */
  async #untilRead(): Promise<void> {
    const { known } = this.#changes
    while (this.#changes.read < known && this.#cause === undefined) await this.#nextAttempt()
  }

  /** The cluster is back only when all of its masters are. */
  #logIfReady(): void {
    if (this.isReady) this.#log.found()
  }

  #nextAttempt(): Promise<void> {
    return new Promise((resolve) => this.#awaitingAttempt.push(resolve))
  }

  async #keepTable(): Promise<void> {
    for (let failures = 0; !this.#closing.signal.aborted; ) {
      const { known } = this.#changes
      try {
        await this.#readTable(failures % 2 === 1)
        this.#changes.read = known
        this.#cause = undefined
        this.#logIfReady()
        failures = 0
      } catch (error) {
        this.#cause = error
        failures += 1
        if (!this.#closing.signal.aborted) this.#log.lost(error)
      }
      for (const resolve of this.#awaitingAttempt.splice(0)) resolve()
      const isWoken = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      const isOutdated = this.#changes.read < this.#changes.known
      if (!isOutdated && !this.#closing.signal.aborted) await isWoken
      await pauseAfter(failures, this.#closing.signal)
    }
    for (const resolve of this.#awaitingAttempt.splice(0)) resolve()
  }

  /**
   * @param isByHosts whether to ask the hosts of the URL rather than the masters that are known.
   * @throws {Error} when no server replies, or some slot has no master.
   */
  async #readTable(isByHosts: boolean): Promise<void> {
    const ready = [...this.#connections].filter(([, { isReady }]) => isReady)
    const start = Math.floor(Math.random() * ready.length)
    const asked = [...ready.slice(start), ...ready.slice(0, start)].slice(0, askedAtOnce)
    const replies =
      isByHosts || asked.length === 0
        ? this.#address.hosts.map((host) => this.#askHost(host))
        : asked.map(([address, connection]) => tableBy(connection, address))
    const table = await Promise.any(replies).catch(({ errors }: AggregateError) => {
      throw errors[0]
    })
    // A server that has been taken out of the cluster knows less than what is known already.
    if (table.size >= this.#table.size) await this.#adopt(table)
    const missing = slotCount - table.size
    if (missing > 0) throw new Error(`${missing} of ${slotCount} slots have no server`)
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
      return await tableBy(connection, host)
    } finally {
      connection.close()
    }
  }

  /** Connects to new masters first, so that what has moved is served at once where it is now. */
  async #adopt(table: Map<number, string>): Promise<void> {
    const masters = new Set(table.values())
    await Promise.all([...masters].map((address) => this.#connectionTo(address).firstAttempt))
    this.#table = table
    this.#logChanges(masters)
    for (const [address, connection] of this.#connections) {
      if (!masters.has(address)) void this.#retire(address, connection)
    }
  }

  /** Servers that come, go or take over; not those that are there from the beginning. */
  #logChanges(masters: ReadonlySet<string>): void {
    const before = this.#masters
    this.#masters = masters
    if (before.size === 0) return
    const { log } = this.#options
    for (const server of masters) {
      if (!before.has(server)) log.info({ server }, 'the server now has slots of the cluster')
    }
    for (const server of before) {
      if (!masters.has(server))
        log.info({ server }, 'the server no longer has slots of the cluster')
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

async function tableBy(connection: RedisConnection, address: string): Promise<Map<number, string>> {
  const { value } = await connection.send(tableCommand)
  return mastersOf(value, address)
}
