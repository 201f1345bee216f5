/**
 * An engine that is a cluster: a connection to each of its masters, and which of them has which slot.
 *
 * The client's own cluster is not used: requests for a server that does not answer wait in it forever,
 * although another one has taken over (docs/dependencies.md).
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { ClusterAddress } from './address.js'
import { connect, inTime } from './client.js'
import {
  type Connection,
  memoryInfo,
  openConnection,
  pauseAfter,
  type Server,
} from './connection.js'
import type { Engine, EngineOptions } from './engine.js'
import { answerOf, LateError, NotConnectedError, refusalOf } from './failures.js'
import { newReporter, newServerReporter } from './report.js'
import { mastersOf, type Redirection, redirectionOf, slotCount, slotOf } from './slots.js'

/** How often a command is sent on, to where the server it was sent to says. */
const mostHops = 5
/** How many servers are asked at a time who has which slot; the first answer counts. */
const askedAtOnce = 3
const question = ['CLUSTER', 'SLOTS']

/** @returns once the first attempt to connect has succeeded or failed; there will be others. */
export async function openCluster(
  { hosts, urlOf }: ClusterAddress,
  { timeout, log }: EngineOptions,
): Promise<Engine> {
  const closing = new AbortController()
  const report = newReporter(log)
  /** By host and port: the masters, and who was named by a redirection since they were read. */
  const connections = new Map<string, Connection>()
  /** By slot. */
  let masters = new Map<number, string>()
  /** Why `masters` has not all slots. */
  let cause: unknown
  const slots = new Map<string, number>()
  let isOutdated = true
  let wake = () => {}

  function connectionTo(address: string): Connection {
    const known = connections.get(address)
    if (known !== undefined) return known
    const own = newServerReporter(log.child({ server: address }), () =>
      memoryInfo(connection, 'maxmemory_policy'),
    )
    const connection: Connection = openConnection({
      url: urlOf(address),
      isOfCluster: true,
      timeout,
      report: {
        ...own,
        lost(error) {
          own.lost(error)
          readMastersAgain() // another server may have taken over
        },
      },
    })
    connections.set(address, connection)
    return connection
  }

  /** Closes the connection to a server that is no master any more, when all is answered. */
  async function letGo(address: string, connection: Connection): Promise<void> {
    connections.delete(address)
    await delay(timeout, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
    connection.close()
  }

  /** @throws {Error} when there is no answer, or some slot has no master. */
  async function readMasters(isByHosts: boolean): Promise<void> {
    const ready = [...connections].filter(([, { session }]) => session() !== undefined)
    const first = Math.floor(Math.random() * ready.length)
    const asked = [...ready.slice(first), ...ready.slice(0, first)].slice(0, askedAtOnce)
    const answers =
      isByHosts || asked.length === 0
        ? hosts.map(askHost)
        : asked.map(async ([address, server]) => mastersOf(await server.send(question), address))
    const read = await Promise.any(answers).catch(({ errors }: AggregateError) => {
      throw errors[0]
    })
    // A server that has been taken out of the cluster knows less than what is known already.
    if (read.size >= masters.size) await takeOver(read)
    const missing = slotCount - read.size
    if (missing > 0) throw new Error(`${missing} of ${slotCount} slots have no server`)
  }

  /** What has moved is found at once where it is now, so that connections come first. */
  async function takeOver(read: Map<number, string>): Promise<void> {
    const addresses = new Set(read.values())
    await Promise.all([...addresses].map((address) => connectionTo(address).tried))
    masters = read
    for (const [address, connection] of connections) {
      if (!addresses.has(address)) void letGo(address, connection)
    }
  }

  async function askHost(host: string): Promise<Map<number, string>> {
    const client = await connect({ url: urlOf(host), isOfCluster: true, timeout }, closing.signal)
    try {
      return mastersOf(await inTime(timeout, client.sendCommand(question)), host)
    } finally {
      client.destroy()
    }
  }

  function readMastersAgain(): void {
    isOutdated = true
    wake()
  }

  async function stayInformed(onAttempt: () => void): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      isOutdated = false
      try {
        await readMasters(failures % 2 === 1)
        report.found()
        failures = 0
      } catch (error) {
        cause = error
        failures += 1
        if (!closing.signal.aborted) report.lost(error)
      }
      onAttempt()
      const isWoken = new Promise<void>((resolve) => {
        wake = resolve
      })
      if (failures === 0 && !isOutdated) await isWoken
      await pauseAfter(failures, closing.signal)
    }
  }

  /** Sends on what a server has refused, since another one has the key. */
  async function follow<T>(
    first: Redirection,
    slot: number,
    end: number,
    call: (server: Server) => Promise<T>,
  ): Promise<T> {
    let { address, isOnce } = first
    for (let hop = 1; ; hop += 1) {
      // Two servers may both say that it is the other one, while one takes over.
      if (hop > 1) await pauseAfter(hop - 2, closing.signal)
      const connection = connectionTo(address)
      await connection.tried
      if (performance.now() > end) throw new LateError() // nobody waits any more
      if (!isOnce) {
        masters.set(slot, address)
        readMastersAgain() // other slots have moved as well
      }
      try {
        return await call(isOnce ? connection.asking : connection)
      } catch (error) {
        const next = redirectionOf(error, address)
        if (next === undefined || hop === mostHops) throw error
        ;({ address, isOnce } = next)
      }
    }
  }

  async function send<T>(key: string, call: (server: Server) => Promise<T>): Promise<T> {
    const slot = slots.get(key) ?? slotOf(key)
    slots.set(key, slot)
    const address = masters.get(slot) ?? ''
    const connection = connections.get(address)
    if (connection === undefined) throw new NotConnectedError(cause)
    const end = performance.now() + timeout
    try {
      return await call(connection)
    } catch (error) {
      if (refusalOf(error)?.startsWith('CLUSTERDOWN')) readMastersAgain()
      const next = redirectionOf(error, address)
      if (next === undefined) throw error
      return await inTime(end - performance.now(), follow(next, slot, end, call))
    }
  }

  await new Promise<void>((resolve) => {
    void stayInformed(resolve)
  })

  return {
    at: (purpose, key, call) => answerOf(send(key, call), purpose),

    all: (purpose, call) => answerOf(Promise.all([...connections.values()].map(call)), purpose),

    isConnected: () =>
      masters.size === slotCount &&
      [...connections.values()].every(({ session }) => session() !== undefined),

    close() {
      closing.abort()
      readMastersAgain() // ends the waiting for it
      for (const { close } of connections.values()) close()
    },
  }
}
