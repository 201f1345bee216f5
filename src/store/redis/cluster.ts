/** Connections to cluster masters, without the cluster class of `@redis/client` (bench/CHOICES.md). @module */

import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from './address.js'
import { type Command, open, type Reply, type Servers, valid, withTimeout } from './client.js'
import { pauseAfter, RedisConnection, type ServersOptions } from './connection.js'
import { errorCodeOf, NotConnectedError } from './errors.js'
import { createReachabilityLog } from './reachability.js'
import { mastersOf, redirectionOf, slotCount, slotOf } from './slots.js'

const askedAtOnce = 3 // servers for the slot table; the first reply is used
const tableCommand = ['CLUSTER', 'SLOTS']

export function createCluster(address: Address, options: ServersOptions): Servers {
  const { timeout, log, traffic } = options
  const closing = new AbortController()
  const { signal } = closing
  setMaxListeners(0, signal) // many commands may pause at the same time
  const connections = new Map<string, RedisConnection>() // by host and port; some only for recent redirections
  const slots = new Map<string, number>() // by key, because computing a slot takes 0.3 µs
  let table = new Map<number, string>() // host and port of each slot's master, if it has one
  let servers: string | undefined
  let failures = 0
  let cause: unknown
  /** First and latest time (`performance.now()`) at which commands in a row were refused for lack of a master. */
  let [refusedSince, lastRefused] = [0, 0]
  let nextAttempt: Promise<void> | undefined // next read of the slot table, if the current one is outdated
  // After a lost connection, another server may take over, so the slot table may be outdated.
  const reachability = createReachabilityLog(log, markOutdated)
  const firstAttempt = readTable()
  let attempt = firstAttempt

  function isReady(): boolean {
    return table.size === slotCount && [...connections.values()].every((each) => each.isReady())
  }

  function slotIn(key: string): number {
    const slot = slots.get(key) ?? slotOf(key)
    slots.set(key, slot)
    return slot
  }

  function masterOf(key: string): string {
    return table.get(slotIn(key)) ?? ''
  }

  function serverOf(key: string): RedisConnection | undefined {
    return connections.get(masterOf(key))
  }

  /** Implements `Servers.send`. A command that its master did not execute is sent once more. */
  async function send(commands: readonly Command[]): Promise<readonly Reply[]> {
    const deadline = performance.now() + timeout
    const masters = commands.map(({ key }) => masterOf(key))
    const sent = [...new Set(masters)].map(async (master) => {
      const own = commands.filter((_, index) => masters[index] === master)
      return [master, (await sendTo(master, own)).values()] as const
    })
    const received = new Map(await Promise.all(sent))
    const replies = masters.map((master) => received.get(master)?.next().value as Reply) // each command has a reply
    if (!replies.some((reply) => reply instanceof Error)) return replies
    const settled = commands.map((command, index) => {
      const reply = replies[index] as Reply // each command has a reply
      return reply instanceof Error ? retry(command, masters[index] ?? '', reply, deadline) : reply
    })
    return await Promise.all(settled)
  }

  async function sendTo(server: string, commands: readonly Command[]): Promise<readonly Reply[]> {
    const connection = connections.get(server)
    try {
      if (connection === undefined) throw new NotConnectedError(cause)
      return await connection.send(commands)
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      return commands.map(() => failure) // the replies of other servers still count
    }
  }

  /**
   * True if a command waits for a master that it lacks. In an outage longer than the timeout, it waits only for the
   * next read of the slot table.
   */
  function mayWait(reply: Reply, waits: number): boolean {
    if (errorCodeOf(reply) !== 'CLUSTERDOWN' && !(reply instanceof NotConnectedError)) return false
    markOutdated()
    const now = performance.now()
    if (now > lastRefused + timeout) refusedSince = now
    lastRefused = now
    return now < refusedSince + timeout || (waits === 0 && cause === undefined)
  }

  /** Sends a command again while its error proves that the master did not execute it. */
  async function retry(command: Command, master: string, error: Error, deadline: number) {
    let [server, reply]: [string, Reply] = [master, error]
    for (let count = 0; performance.now() < deadline; count += 1) {
      const redirection = redirectionOf(reply, server)
      if (redirection === undefined && !mayWait(reply, count)) break
      // Pauses, because two servers may redirect commands to each other during a failover.
      if (count > 0) await pauseAfter(count - 1, signal)
      if (redirection === undefined) await untilSettled(nextAttempt ?? attempt, deadline)
      else {
        traffic.redirections += 1
        await untilSettled(connectionTo(redirection.address).firstAttempt, deadline)
      }
      if (redirection?.isAsk === false) {
        table.set(slotIn(command.key), redirection.address)
        markOutdated() // other slots may have moved too
      }
      server = redirection?.address ?? masterOf(command.key)
      const again = { ...command, isAsking: redirection?.isAsk ?? false }
      ;[reply] = (await sendTo(server, [again])) as [Reply] // one command has one reply
    }
    return reply
  }

  function connectionTo(server: string): RedisConnection {
    const known = connections.get(server)
    if (known !== undefined) return known
    const connection = new RedisConnection({
      ...options,
      url: () => address.urlOf(server),
      isClusterNode: true,
      log: log.child({ server }),
      reachability: { lost: (error) => reachability.lost(error, server), found: logIfReady },
    })
    connections.set(server, connection)
    return connection
  }

  function logIfReady(): void {
    if (isReady()) reachability.found()
  }

  function markOutdated(): void {
    const readAgain = async () => {
      await attempt
      await pauseAfter(failures, signal)
      nextAttempt = undefined
      attempt = readTable()
      await attempt
    }
    nextAttempt ??= readAgain()
  }

  async function readTable(): Promise<void> {
    try {
      signal.throwIfAborted()
      const read = await askForTable()
      // A table with fewer slots than the current one may come from a server that has left the cluster.
      if (read.size >= table.size) await adopt(read)
      const missing = slotCount - read.size
      if (missing > 0) throw new Error(`${missing} of ${slotCount} slots have no server`)
      failures = 0
      cause = undefined
      logIfReady()
    } catch (error) {
      failures += 1
      cause = error
      if (!signal.aborted) reachability.lost(error)
    }
  }

  async function askForTable(): Promise<Map<number, string>> {
    const ready = [...connections].filter(([, connection]) => connection.isReady())
    const start = Math.floor(Math.random() * ready.length)
    const asked = [...ready.slice(start), ...ready.slice(0, start)].slice(0, askedAtOnce)
    const replies =
      failures % 2 === 1 || asked.length === 0
        ? address.hosts.map(askHost)
        : asked.map(async ([server, connection]) => {
            const [reply] = await connection.send([{ parts: tableCommand, key: '' }])
            return mastersOf(valid(reply)?.value, server)
          })
    return await Promise.any(replies).catch(({ errors }: AggregateError) => {
      throw errors[0]
    })
  }

  async function askHost(host: string): Promise<Map<number, string>> {
    const { client, reply } = await open(address.urlOf(host), tableCommand, timeout, signal)
    client.destroy()
    return mastersOf(reply, host)
  }

  /** Uses a new table of slots, but connects to all its masters first, so that moved slots are served immediately. */
  async function adopt(read: Map<number, string>): Promise<void> {
    const masters = new Set(read.values())
    await Promise.all([...masters].map((master) => connectionTo(master).firstAttempt))
    table = read
    const before = servers
    servers = [...masters].sort().join()
    if (before !== undefined && before !== servers) {
      log.info({ servers }, 'the masters of the cluster have changed')
    }
    for (const [server, connection] of connections) {
      if (masters.has(server)) continue
      connections.delete(server)
      // After the timeout, all calls to the former master have ended.
      const ended = delay(timeout, undefined, { signal, ref: false }).catch(() => undefined)
      void ended.then(() => connection.close())
    }
  }

  return {
    firstAttempt,
    isReady,
    hasRoom: (key) => serverOf(key)?.hasRoom() ?? true,
    send,
    serverOf,

    close() {
      closing.abort()
      for (const connection of connections.values()) connection.close()
    },
  }
}

async function untilSettled(promise: Promise<void>, deadline: number): Promise<void> {
  await withTimeout(deadline - performance.now(), promise).catch(() => undefined)
}
