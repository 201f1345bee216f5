/**
 * The connection to one server, which reconnects whenever it is lost.
 *
 * A call waits until the in-flight limit has room for it, and is then in flight until its replies have come. Both
 * times are bounded. Replies come in the order of the commands: if one is late, all later ones are. The connection is
 * then dropped with everything in flight. It is also dropped when the server turns out to be no primary; then the
 * address is resolved again. Nothing is sent twice.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import {
  type Client,
  type ClientOptions,
  type Command,
  connect,
  isReplica,
  type OnCheck,
  type RedisValue,
  type Reply,
} from './client.js'
import {
  BusyError,
  isOfReplica,
  NotConnectedError,
  NotPrimaryError,
  type Reachability,
  TimeoutError,
} from './errors.js'
import { InFlightLimit, type Traffic } from './in-flight.js'

interface RedisConnectionOptions extends Omit<ClientOptions, 'url'> {
  /** Returns where the server is now. @throws {Error} after a bounded time. */
  readonly url: () => string | Promise<string>
  readonly log: Pick<Logger, 'warn'>
  readonly reachability: Reachability
  readonly traffic: Traffic
  /** Called before the first command of each second. What it sends goes ahead of that command. */
  readonly onCheck?: OnCheck | undefined
}

/** Time for which a server counts as the primary, in milliseconds. Reads of a replica would succeed too. */
const primaryFor = 1000
/** Pauses between attempts to connect, in milliseconds. */
const [shortestPause, longestPause] = [50, 1000]

/** Commands that are sent together, once the in-flight limit has room for all of them. */
interface Call {
  readonly commands: readonly Command[]
  /** When it began to wait or, later, was sent, as `performance.now()` has it. */
  since: number
  /** Called with a reply for each command. */
  readonly resolve: (replies: readonly Reply[]) => void
  readonly reject: (error: unknown) => void
}

export class RedisConnection {
  /** Resolves once the first attempt to connect has succeeded or failed; there will be others. */
  readonly firstAttempt: Promise<void>
  readonly #options: RedisConnectionOptions
  readonly #closing = new AbortController()
  /** `undefined` while there is no connection. */
  #client: Client | undefined
  /** Why there is no connection. */
  #cause: unknown
  /** In the order in which the calls were made. */
  readonly #waiting = new Set<Call>()
  /** In the order in which the calls were sent. */
  readonly #inFlight = new Set<Call>()
  #limit = new InFlightLimit()
  /** When the server was last asked for its role, as `performance.now()` has it. */
  #askedForRole = 0
  #wasConnected = false
  /** Runs while there are calls, until the deadline of the oldest one. */
  #deadline: NodeJS.Timeout | undefined

  constructor(options: RedisConnectionOptions) {
    this.#options = options
    options.traffic.connections.add(this)
    this.firstAttempt = new Promise((resolve) => {
      void this.#stayConnected(resolve)
    })
  }

  get isReady(): boolean {
    return this.#client !== undefined
  }

  get inFlight(): number {
    return this.#inFlight.size
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Whether a reply of unknown length may be asked for. */
  hasRoom(): boolean {
    return this.#limit.hasRoomForUnknown
  }

  /** Sends commands one after the other, as one call. @throws {Error} for `storeError`, after a bounded time. */
  send(commands: readonly Command[]): Promise<readonly Reply[]> {
    if (this.#client === undefined) return Promise.reject(new NotConnectedError(this.#cause))
    return new Promise((resolve, reject) => {
      this.#waiting.add({ commands, since: performance.now(), resolve, reject })
      this.#sendWaiting()
      this.#setDeadline()
    })
  }

  /** Leaves the server, if it is connected; the address is then resolved again. */
  leave(cause: unknown): void {
    if (this.#client !== undefined) this.#lose(cause)
  }

  /** Closes the connection for good. Calls without a reply fail, and no call may follow. */
  close(): void {
    this.#closing.abort()
    this.#options.traffic.connections.delete(this)
    this.#drop(new Error('the store is closed'))
  }

  /** Sends waiting calls while the limit has room. */
  #sendWaiting(): void {
    const client = this.#client
    if (client === undefined) return
    for (const call of this.#waiting) {
      const bytes = this.#limit.take(call.commands)
      if (bytes === undefined) return
      this.#waiting.delete(call)
      this.#transmit(call, bytes, client)
    }
  }

  #transmit(call: Call, bytes: number, client: Client): void {
    call.since = performance.now()
    if (call.since > this.#askedForRole + primaryFor) this.#askForRole(client)
    this.#inFlight.add(call)
    const replies: Reply[] = []
    const receive = (reply: Reply): void => {
      replies.push(reply)
      if (replies.length < call.commands.length) return
      if (!this.#inFlight.delete(call)) return // the connection was lost
      call.resolve(replies)
      this.#options.traffic.onRoundTrip?.((performance.now() - call.since) / 1000)
      this.#limit.give(bytes, replies)
      if (replies.some((each) => each instanceof Error && isOfReplica(each))) {
        this.#leaveReplica(client)
      }
      this.#sendWaiting()
    }
    for (const { parts, isAsking } of call.commands) {
      // ASKING applies to the next command alone, and fails only together with it.
      if (isAsking) client.sendCommand(['ASKING']).catch(() => undefined)
      const reply = client.sendCommand<RedisValue>(parts)
      reply.then((value) => receive({ value, client }), receive)
    }
  }

  /** Asks ahead of other commands, so that the replies of a replica to them do not count. */
  #askForRole(client: Client): void {
    this.#askedForRole = performance.now()
    this.#options.onCheck?.((parts) => client.sendCommand(parts))
    if (this.#options.isClusterNode) return // in a cluster, a replica answers MOVED
    client.sendCommand<Buffer>(['INFO', 'replication']).then(
      (info) => {
        if (isReplica(String(info))) this.#leaveReplica(client)
      },
      () => undefined, // the commands that follow fail as well
    )
  }

  #leaveReplica(client: Client): void {
    if (client === this.#client) this.leave(new NotPrimaryError('the server is a replica'))
  }

  #setDeadline(): void {
    if (this.#deadline !== undefined) return
    const since = Math.min(sinceFirst(this.#waiting), sinceFirst(this.#inFlight))
    if (since === Number.POSITIVE_INFINITY) return
    const time = since + this.#options.timeout - performance.now()
    this.#deadline = setTimeout(() => {
      // Replies that arrived while this process was busy are read first.
      setImmediate(() => {
        this.#deadline = undefined
        this.#expire()
        this.#setDeadline()
      })
    }, time)
  }

  #expire(): void {
    const { timeout } = this.#options
    const limit = performance.now() - timeout
    if (sinceFirst(this.#inFlight) <= limit) {
      this.#lose(new TimeoutError(`no reply within ${timeout} ms`))
    }
    for (const call of this.#waiting) {
      if (call.since > limit) return
      this.#waiting.delete(call)
      call.reject(new BusyError(`no room for the command within ${timeout} ms`))
    }
  }

  async #stayConnected(onAttempt: () => void): Promise<void> {
    const { signal } = this.#closing
    for (let failures = 0; !signal.aborted; await pauseAfter(failures, signal)) {
      try {
        const end = this.#use(await this.#connect())
        const since = performance.now()
        onAttempt()
        await end
        // A server may refuse changes as a replica does, and say that it is none: then reconnecting slows down too.
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
    const options = { ...this.#options, url: await this.#options.url() }
    const { client, evictionPolicy } = await connect(options, this.#closing.signal)
    // Policies for keys with a time to live do no harm, because buckets have none.
    if (evictionPolicy?.startsWith('allkeys-')) {
      const text =
        'the server deletes items once it reaches maxmemory; set maxmemory-policy noeviction'
      this.#options.log.warn({ policy: evictionPolicy }, text)
    }
    return client
  }

  /** Uses a connection until it ends. */
  #use(client: Client): Promise<void> {
    const end = new Promise<void>((resolve) => {
      client.once('end', resolve).once('error', (error) => {
        if (this.#client === client) this.#lose(error)
        resolve()
      })
    })
    this.#client = client
    this.#askedForRole = performance.now()
    this.#options.reachability.found()
    if (this.#wasConnected) this.#options.traffic.reconnections += 1
    this.#wasConnected = true
    return end
  }

  #lose(error: unknown): void {
    this.#drop(error)
    this.#options.reachability.lost(error)
  }

  /** Rejects all pending calls, so that no caller waits forever. @param error for the calls in flight. */
  #drop(error: unknown): void {
    const [client, unsent, sent] = [this.#client, [...this.#waiting], [...this.#inFlight]]
    this.#client = undefined
    this.#cause = error
    this.#waiting.clear()
    this.#inFlight.clear()
    this.#limit = new InFlightLimit()
    clearTimeout(this.#deadline)
    this.#deadline = undefined
    for (const call of unsent) call.reject(new NotConnectedError(error))
    for (const call of sent) call.reject(error)
    client?.destroy()
  }
}

function sinceFirst([first]: Set<Call>): number {
  return first?.since ?? Number.POSITIVE_INFINITY
}

/** Waits before the next attempt to connect: longer after each failure, or until the signal. */
export async function pauseAfter(failures: number, signal: AbortSignal): Promise<void> {
  const pause = Math.min(longestPause, shortestPause * 2 ** failures)
  // Services that lost the same server do not all come back at the same moment.
  const wait = pause * (0.5 + Math.random() / 2)
  await delay(wait, undefined, { signal }).catch(() => undefined)
}
