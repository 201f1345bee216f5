/** A connection to one Redis server, with automatic reconnection. No command is sent twice. @module */

import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Client, Command, RedisValue, Reply } from './client.js'
import { connect, isOfReplica, isReplica } from './client.js'
import { BusyError, NotConnectedError, NotPrimaryError, TimeoutError } from './errors.js'
import { InFlightLimit, type Traffic } from './in-flight.js'
import type { Reachability } from './reachability.js'

export interface ServersOptions {
  /** Maximum duration in ms of each wait: for a connection, the in-flight limit, or a reply. */
  readonly timeout: number
  readonly log: Pick<Logger, 'info' | 'warn' | 'child'>
  readonly traffic: Traffic
}

export interface RedisConnectionOptions extends ServersOptions {
  /** Returns the server's current URL. @throws {Error} if no usable server is found in time. */
  readonly url: () => string | Promise<string>
  /** Whether the server must be in a cluster. Otherwise, it must not. */
  readonly isClusterNode: boolean
  readonly reachability: Reachability
}

const primaryFor = 1000 // ms between two checks that the server is the primary
const [shortestPause, longestPause] = [50, 1000] // ms between attempts to connect
const leastArrival = 256 * 1024 // bytes of replies per timeout that allow a reply to take longer

/** Commands sent together, once the in-flight limit allows all of them. */
interface Call {
  readonly commands: readonly Command[]
  /** When the call was made or, once it's in flight, when it was sent (`performance.now()`). */
  since: number
  readonly resolve: (replies: readonly Reply[]) => void
  readonly reject: (error: unknown) => void
}

export class RedisConnection {
  readonly firstAttempt: Promise<void>
  readonly waiting = new Set<Call>()
  readonly inFlight = new Set<Call>() // calls without a reply, in the order of sending
  readonly #options: RedisConnectionOptions
  readonly #closing = new AbortController()
  #client: Client | undefined
  #cause: unknown
  #waitUntil = 0 // calls wait for a new connection until then (`performance.now()`)
  #arrivedAt = 0 // latest time when `leastArrival` more bytes had arrived
  #limit = new InFlightLimit()
  #askedForRole = 0 // time of the latest request for the server's role
  #wasConnected = false
  #deadline: NodeJS.Timeout | undefined

  constructor(options: RedisConnectionOptions) {
    this.#options = options
    options.traffic.connections.add(this)
    this.firstAttempt = new Promise((resolve) => void this.#stayConnected(resolve))
  }

  isReady(): boolean {
    return this.#client !== undefined
  }

  hasRoom(): boolean {
    return this.#limit.hasRoomForUnknown
  }

  send(commands: readonly Command[]): Promise<readonly Reply[]> {
    if (!this.#mayWait()) return Promise.reject(new NotConnectedError(this.#cause))
    return new Promise((resolve, reject) => {
      this.waiting.add({ commands, since: performance.now(), resolve, reject })
      this.#sendWaiting()
      this.#setDeadline()
    })
  }

  /** Closes the connection, looks up the server's address again, and reconnects. */
  leave(cause: unknown): void {
    if (this.#client !== undefined) this.#lose(cause)
  }

  close(): void {
    this.#closing.abort()
    this.#options.traffic.connections.delete(this)
    this.#drop(new Error('the store is closed'))
  }

  #mayWait(): boolean {
    return this.#client !== undefined || performance.now() < this.#waitUntil
  }

  #sendWaiting(): void {
    const client = this.#client
    if (client === undefined) return
    for (const call of this.waiting) {
      const bytes = this.#limit.take(call.commands)
      if (bytes === undefined) return
      this.waiting.delete(call)
      this.#transmit(call, bytes, client)
    }
  }

  #transmit(call: Call, bytes: number, client: Client): void {
    call.since = performance.now()
    if (call.since > this.#askedForRole + primaryFor) this.#askForRole(client)
    this.inFlight.add(call)
    const replies: Reply[] = []
    const receive = (reply: Reply): void => {
      replies.push(reply)
      if (replies.length < call.commands.length) return
      if (!this.inFlight.delete(call)) return // already rejected, because the connection was lost
      call.resolve(replies)
      this.#options.traffic.onRoundTrip?.((performance.now() - call.since) / 1000)
      this.#limit.give(bytes, replies)
      if (replies.some(isOfReplica)) this.#leaveReplica(client)
      this.#sendWaiting()
    }
    for (const { parts, isAsking } of call.commands) {
      // The command after ASKING fails too, and reports the error.
      if (isAsking) client.sendCommand(['ASKING']).catch(() => undefined)
      const reply = client.sendCommand<RedisValue>(parts)
      reply.then((value) => receive({ value, client }), receive)
    }
  }

  /** Asks the server for its role. If it's a replica, ends the connection and discards its later replies. */
  #askForRole(client: Client): void {
    this.#askedForRole = performance.now()
    if (this.#options.isClusterNode) return // a replica in a cluster answers each read with MOVED
    client.sendCommand<Buffer>(['INFO', 'replication']).then(
      (info) => {
        if (isReplica(String(info))) this.#leaveReplica(client)
      },
      () => undefined, // the commands after INFO fail too, and report the error
    )
  }

  #leaveReplica(client: Client): void {
    if (client === this.#client) this.leave(new NotPrimaryError('the server is a replica'))
  }

  #setDeadline(): void {
    if (this.#deadline !== undefined) return
    const since = Math.min(sinceFirst(this.waiting), this.#silentSince())
    if (since === Number.POSITIVE_INFINITY) return
    const time = since + this.#options.timeout - performance.now()
    // `setImmediate` lets Node first read replies that arrived while this process was busy.
    this.#deadline = setTimeout(() => setImmediate(() => this.#expire()), time)
  }

  /** Time (`performance.now()`) since which too little of the next reply has arrived. */
  #silentSince(): number {
    return Math.max(sinceFirst(this.inFlight), this.#arrivedAt)
  }

  #expire(): void {
    this.#deadline = undefined
    const { timeout } = this.#options
    const limit = performance.now() - timeout
    if (this.#silentSince() <= limit) {
      // Replies come in the order of the commands, so all later ones would be late too.
      this.#lose(new TimeoutError(`no reply within ${timeout} ms`))
    }
    for (const call of this.waiting) {
      if (call.since > limit && this.#mayWait()) break
      this.waiting.delete(call)
      const busy = new BusyError(`no room for the command within ${timeout} ms`)
      call.reject(this.#client === undefined ? new NotConnectedError(this.#cause) : busy)
    }
    this.#setDeadline()
  }

  async #stayConnected(onAttempt: () => void): Promise<void> {
    const { signal } = this.#closing
    for (let failures = 0; !signal.aborted; await pauseAfter(failures, signal)) {
      try {
        const end = this.#use(await this.#connect())
        const since = performance.now()
        onAttempt()
        await end
        // The pause also grows if a server that claims to be the primary soon turns out not to be.
        const wasLeft = this.#cause instanceof NotPrimaryError
        failures = wasLeft && performance.now() - since < longestPause ? failures + 1 : 0
      } catch (error) {
        failures += 1
        if (!signal.aborted) this.#lose(error)
        onAttempt()
      }
    }
  }

  async #connect(): Promise<Client> {
    const server = { ...this.#options, url: await this.#options.url() }
    const { client, policy } = await connect(server, this.#closing.signal)
    // The `volatile-` policies evict only keys with a time to live, which the store's don't have.
    if (policy?.startsWith('allkeys-')) {
      const text =
        'the server deletes items once it reaches maxmemory; set maxmemory-policy noeviction'
      this.#options.log.warn({ policy }, text)
    }
    return client
  }

  #use(client: Client): Promise<void> {
    const end = new Promise<void>((resolve) => {
      client.once('end', resolve).once('error', (error) => {
        if (this.#client === client) this.#lose(error)
        resolve()
      })
    })
    this.#client = client
    this.#askedForRole = 0 // asks the server before commands that were meant for another connection
    const socket = client._ejectSocket() // the package has no other access to the bytes that arrive
    client._insertSocket(socket)
    let bytes = 0
    socket.on('data', ({ length }: Buffer) => {
      bytes += length
      if (bytes >= leastArrival) [bytes, this.#arrivedAt] = [0, performance.now()]
    })
    this.#options.reachability.found()
    if (this.#wasConnected) this.#options.traffic.reconnections += 1
    this.#wasConnected = true
    this.#sendWaiting()
    return end
  }

  #lose(error: unknown): void {
    this.#drop(error)
    this.#options.reachability.lost(error)
  }

  /** Ends the connection, if any. Until `#waitUntil`, calls that have not been sent wait for the next one. */
  #drop(error: unknown): void {
    const [client, sent] = [this.#client, [...this.inFlight]]
    this.#client = undefined
    this.#cause = error
    this.inFlight.clear()
    this.#limit = new InFlightLimit()
    for (const call of sent) call.reject(error)
    if (client !== undefined) this.#waitUntil = performance.now() + this.#options.timeout
    // Another server in a cluster may take over, so calls do not wait for this one.
    if (this.#options.isClusterNode || this.#closing.signal.aborted) this.#waitUntil = 0
    clearTimeout(this.#deadline)
    this.#expire()
    client?.destroy()
  }
}

function sinceFirst([first]: Set<Call>): number {
  return first?.since ?? Number.POSITIVE_INFINITY
}

/** Waits before the next attempt to connect, twice as long after each failure. */
export async function pauseAfter(failures: number, signal: AbortSignal): Promise<void> {
  const pause = Math.min(longestPause, shortestPause * 2 ** failures)
  // Random, so that services don't all reconnect to a server at the same time.
  await delay(pause * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined)
}
