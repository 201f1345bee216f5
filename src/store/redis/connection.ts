/**
 * The connection to one server, made again whenever it is lost.
 *
 *     disconnected  ->  connected ( ->  demoted )  ->  disconnected  ...  ->  closed
 *
 * While it is connected, a command waits until there is room for it and its reply, and is then in flight
 * until the reply comes, both for a bounded time. Replies come in the order of the commands: when one is
 * late, all later ones are, so the connection is dropped with everything in flight. Nothing is sent twice.
 *
 * A server that turns out not to be the primary any more is left, for the one that has the address now: nothing
 * more is sent, and of the replies to what is in flight only errors count.
 *
 * @module
 */

import type { Logger } from 'pino'
import {
  type Client,
  type ClientOptions,
  type Command,
  connect,
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
  TimeoutError,
} from './errors.js'
import { longestPause, pauseAfter } from './pause.js'
import { createEvictionLog, type Reachability } from './reachability-log.js'
import { Room } from './room.js'
import type { Traffic } from './traffic.js'

export interface RedisConnectionOptions extends Omit<ClientOptions, 'url'> {
  /** Where the server is now. @throws {Error} after a bounded time. */
  readonly url: () => string | Promise<string>
  readonly log: Pick<Logger, 'warn'>
  readonly reachability: Reachability
  readonly traffic: Traffic
  /** Called every second that has a command: what it sends goes first. */
  readonly onCheck?: OnCheck | undefined
}

/** How long a server counts as the primary, in milliseconds; on a replica, reads would still succeed. */
const primaryFor = 1000

type State =
  | { readonly name: 'disconnected'; readonly cause: unknown }
  | { readonly name: 'connected'; readonly client: Client }
  | { readonly name: 'demoted'; readonly client: Client; readonly cause: unknown }
  | { readonly name: 'closed' }

/** Commands that wait together, and are sent together when there is room for all of them. */
interface Call {
  readonly commands: readonly Command[]
  /** When it began to wait, or was sent, as `performance.now()` has it. */
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
  /** Both in the order of the calls. */
  readonly #waiting = new Set<Call>()
  readonly #inFlight = new Set<Call>()
  readonly #room = new Room()
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

  /** Whether there is room for one more reply of unknown length. */
  hasRoom(): boolean {
    return this.#room.isEnoughForUnknown
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

  /** Leaves the server, if there is a connection to it, for the one that has the address now. */
  leave(cause: unknown): void {
    if (this.#state.name === 'connected') this.#demote(this.#state.client, cause)
  }

  /** Ends it for good: no command may follow, and calls without a reply fail. */
  close(): void {
    this.#closing.abort()
    this.#options.traffic.connections.delete(this)
    this.#leave({ name: 'closed' }, new Error('the store is closed'))
  }

  /** Sends what there is room for. */
  #sendWaiting(): void {
    if (this.#state.name !== 'connected') return
    for (const call of this.#waiting) {
      const bytes = this.#room.bytesFor(call.commands)
      if (!this.#room.isEnoughFor(bytes)) return
      this.#waiting.delete(call)
      this.#transmit(call, bytes, this.#state.client)
    }
  }

  #transmit(call: Call, bytes: number, client: Client): void {
    call.since = performance.now()
    if (call.since > this.#askedForRole + primaryFor) this.#askForRole(client)
    this.#inFlight.add(call)
    this.#room.take(bytes)
    const replies: Reply[] = []
    sendEach(client, call.commands, (reply) => {
      replies.push(reply)
      if (reply instanceof Error && isOfReplica(reply)) this.#demote(client)
      if (replies.length < call.commands.length) return
      if (!this.#inFlight.delete(call)) return // the connection was lost
      this.#room.free(bytes)
      this.#room.observe(replies)
      this.#options.traffic.onRoundTrip?.((performance.now() - call.since) / 1000)
      if (this.#state.name === 'demoted') {
        if (!replies.every((each) => each instanceof Error)) call.reject(this.#state.cause)
        if (this.#inFlight.size === 0) this.#lose(this.#state.cause)
      } else this.#sendWaiting()
      call.resolve(replies)
    })
  }

  /** The reply comes before those to the commands that follow, so that a replica's do not count. */
  #askForRole(client: Client): void {
    this.#askedForRole = performance.now()
    this.#options.onCheck?.((parts) => client.sendCommand(parts))
    if (this.#options.isClusterNode) return // a replica there answers MOVED
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
      // What arrived while this process was busy is read before the time counts as over.
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
        // One that refuses changes as a replica does, but says that it is not one, is not asked all the time.
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

  /** Nobody may be left waiting. @param error what the calls in flight get. */
  #leave(next: State, error: unknown): void {
    const last = this.#state
    this.#state = next
    const [unsent, sent] = [[...this.#waiting], [...this.#inFlight]]
    this.#waiting.clear()
    this.#inFlight.clear()
    this.#room.freeAll()
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
