/**
 * The connection to one server, which reconnects whenever it is lost.
 *
 *     disconnected  ->  connected ( ->  demoted )  ->  disconnected  ...  ->  closed
 *
 * A call waits until the in-flight limit has room for it, and is then in flight until its replies have come. Both
 * times are bounded. Replies come in the order of the commands: if one is late, all later ones are. The connection is
 * then dropped with everything in flight. Nothing is sent twice.
 *
 * A connection is demoted when its server turns out to be no primary. Nothing more is sent, and of the replies in
 * flight only errors count. Then the address is resolved again.
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
  createEvictionLog,
  isReplica,
  type OnCheck,
  type RedisReply,
  type Reply,
  sendEach,
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

type State =
  | { readonly name: 'disconnected'; readonly cause: unknown }
  | { readonly name: 'connected'; readonly client: Client }
  | { readonly name: 'demoted'; readonly client: Client; readonly cause: unknown }
  | { readonly name: 'closed' }

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
  readonly #logEviction: (policy: string | undefined) => void
  readonly #closing = new AbortController()
  #state: State = { name: 'disconnected', cause: undefined }
  /** In the order in which the calls were made. */
  readonly #waiting = new Set<Call>()
  /** In the order in which the calls were sent. */
  readonly #inFlight = new Set<Call>()
  readonly #limit = new InFlightLimit()
  /** When the server was last asked for its role, as `performance.now()` has it. */
  #askedForRole = 0
  /** Runs while there are calls, until the deadline of the oldest one. */
  #deadline: NodeJS.Timeout | undefined

  constructor(options: RedisConnectionOptions) {
    this.#options = options
    this.#logEviction = createEvictionLog(options.log)
    options.traffic.connections.add(this)
    this.firstAttempt = new Promise((resolve) => {
      void this.#stayConnected(resolve)
    })
  }

  get isReady(): boolean {
    return this.#state.name === 'connected'
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

  /** @throws {Error} for `storeError`, after a bounded time. */
  async send(command: Command): Promise<RedisReply> {
    const [reply] = await this.sendTogether([command])
    if (reply instanceof Error) throw reply
    return reply as RedisReply // there is one for each command
  }

  /** Sends commands one after the other, as one call. @throws {Error} like `send`, but for error replies. */
  sendTogether(commands: readonly Command[]): Promise<readonly Reply[]> {
    if (this.#state.name !== 'connected') {
      const cause = 'cause' in this.#state ? this.#state.cause : undefined
      return Promise.reject(new NotConnectedError(cause))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.add({ commands, since: performance.now(), resolve, reject })
      this.#sendWaiting()
      this.#setDeadline()
    })
  }

  /** Leaves the server, if it is connected; the address is then resolved again. */
  leave(cause: unknown): void {
    if (this.#state.name === 'connected') this.#demote(this.#state.client, cause)
  }

  /** Closes the connection for good. Calls without a reply fail, and no call may follow. */
  close(): void {
    this.#closing.abort()
    this.#options.traffic.connections.delete(this)
    this.#leave({ name: 'closed' }, new Error('the store is closed'))
  }

  /** Sends waiting calls while the limit has room. */
  #sendWaiting(): void {
    if (this.#state.name !== 'connected') return
    for (const call of this.#waiting) {
      const bytes = this.#limit.bytesFor(call.commands)
      if (!this.#limit.hasRoomFor(bytes)) return
      this.#waiting.delete(call)
      this.#transmit(call, bytes, this.#state.client)
    }
  }

  #transmit(call: Call, bytes: number, client: Client): void {
    call.since = performance.now()
    if (call.since > this.#askedForRole + primaryFor) this.#askForRole(client)
    this.#inFlight.add(call)
    this.#limit.add(bytes)
    const replies: Reply[] = []
    sendEach(client, call.commands, (reply) => {
      replies.push(reply)
      if (reply instanceof Error && isOfReplica(reply)) this.#demote(client)
      if (replies.length < call.commands.length) return
      if (!this.#inFlight.delete(call)) return // the connection was lost
      this.#limit.remove(bytes)
      this.#limit.observe(replies)
      this.#options.traffic.onRoundTrip?.((performance.now() - call.since) / 1000)
      if (this.#state.name === 'demoted') {
        if (!replies.every((each) => each instanceof Error)) call.reject(this.#state.cause)
        if (this.#inFlight.size === 0) this.#lose(this.#state.cause)
      } else this.#sendWaiting()
      call.resolve(replies)
    })
  }

  /** Asks ahead of other commands, so that the replies of a replica to them do not count. */
  #askForRole(client: Client): void {
    this.#askedForRole = performance.now()
    this.#options.onCheck?.((parts) => client.sendCommand(parts))
    if (this.#options.isClusterNode) return // in a cluster, a replica answers MOVED
    client.sendCommand<Buffer>(['INFO', 'replication']).then(
      (info) => {
        if (isReplica(String(info))) this.#demote(client)
      },
      () => undefined, // the commands that follow fail as well
    )
  }

  #demote(client: Client, cause: unknown = new NotPrimaryError('the server is a replica')): void {
    if (this.#state.name !== 'connected' || this.#state.client !== client) return
    this.#state = { name: 'demoted', client, cause }
    for (const call of this.#waiting) call.reject(new NotConnectedError(cause))
    this.#waiting.clear()
    if (this.#inFlight.size === 0) this.#lose(cause)
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
    let wasConnected = false
    for (let failures = 0; this.#state.name !== 'closed'; ) {
      try {
        const options = { ...this.#options, url: await this.#options.url() }
        const { client, evictionPolicy } = await connect(options, this.#closing.signal)
        if (this.#closing.signal.aborted) {
          client.destroy()
          break
        }
        const end = new Promise<void>((resolve) => {
          client.once('end', resolve).once('error', (error) => {
            if ('client' in this.#state && this.#state.client === client) this.#lose(error)
            resolve()
          })
        })
        this.#state = { name: 'connected', client }
        const since = performance.now()
        this.#askedForRole = since
        this.#logEviction(evictionPolicy)
        this.#options.reachability.found()
        if (wasConnected) this.#options.traffic.reconnections += 1
        wasConnected = true
        onAttempt()
        await end
        // A server may refuse changes as a replica does, and say that it is none: then reconnecting slows down too.
        const wasLeft = 'cause' in this.#state && this.#state.cause instanceof NotPrimaryError
        failures = wasLeft && performance.now() - since < longestPause ? failures + 1 : 0
      } catch (error) {
        failures += 1
        if (!this.#closing.signal.aborted) this.#lose(error)
        onAttempt()
      }
      await pauseAfter(failures, this.#closing.signal)
    }
    onAttempt()
  }

  #lose(error: unknown): void {
    this.#leave({ name: 'disconnected', cause: error }, error)
    this.#options.reachability.lost(error)
  }

  /** Rejects all pending calls, so that no caller waits forever. @param error for the calls in flight. */
  #leave(next: State, error: unknown): void {
    const last = this.#state
    this.#state = next
    const [unsent, sent] = [[...this.#waiting], [...this.#inFlight]]
    this.#waiting.clear()
    this.#inFlight.clear()
    this.#limit.clear()
    clearTimeout(this.#deadline)
    this.#deadline = undefined
    for (const call of unsent) call.reject(new NotConnectedError(error))
    for (const call of sent) call.reject(error)
    if ('client' in last) last.client.destroy()
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
