/** One request that may have to wait for a change, and what can come of it. @module */

import type { HeaderList } from '../interface/headers.js'
import {
  type Conditions,
  type EntityTag,
  isMatch,
  isNoneMatch,
  preconditionFailed,
} from './conditions.js'
import type { Exchange } from './exchange.js'

/** Something that was read, with its tag. All requests that it answers share it. */
export interface Tagged {
  readonly tag: EntityTag
  /** Length of the body in bytes, or 0 if it is not known yet. */
  readonly bodyBytes: number
  /** Reads what else a body needs. Called before the first request that gets a body is answered. */
  open?(): Promise<void>
  /** Called after the last request is answered. */
  close?(): void
}

/** What a conditional read came to. */
export interface ReadResult<State extends Tagged> {
  /** As it was read last. */
  readonly tag: EntityTag
  /** `undefined` if the client has it already: a request that waits does not hold it meanwhile. */
  readonly modified: State | undefined
  /** `Preference-Applied`, if the request has waited. */
  readonly applied: HeaderList
}

/** @throws {ApiError} `PRECONDITION_FAILED`. */
export function resultOf<State extends Tagged>(
  state: State,
  conditions: Conditions,
  applied: HeaderList = [],
): ReadResult<State> {
  const { tag } = state
  if (!isMatch(conditions, tag)) throw preconditionFailed(tag)
  return { tag, modified: isNoneMatch(conditions, tag) ? state : undefined, applied }
}

interface WaitOptions {
  readonly exchange: Exchange
  readonly conditions: Conditions
  /** Maximum time to wait. */
  readonly seconds: number
  /** Once aborted, nothing waits any more. */
  readonly stopping: AbortSignal
}

/** It waits until it is answered, the time is over, the token expires, the client goes away or the service stops. */
export class Wait<State extends Tagged> {
  /** Resolves to `undefined` if there is no such item. */
  readonly result: Promise<ReadResult<State> | undefined>
  readonly #options: WaitOptions
  #resolve: (result: ReadResult<State> | undefined) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #state: 'arrived' | 'waiting' | 'over' = 'arrived'
  /** When it began to wait, as a value of `performance.now()`. */
  #begun = 0
  #applied: HeaderList = []
  /** Of the state that it was compared with last. */
  #tag: EntityTag | undefined
  #timer: NodeJS.Timeout | undefined
  #onOver = () => {}

  constructor(options: WaitOptions) {
    this.#options = options
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  get wantsBody(): boolean {
    return this.#options.exchange.request.method !== 'HEAD'
  }

  isAnsweredBy({ tag }: State): boolean {
    const { conditions } = this.#options
    this.#tag = tag
    return !isMatch(conditions, tag) || isNoneMatch(conditions, tag)
  }

  /** @param onOver called if the wait is over without an answer. */
  begin(onOver: () => void): void {
    const { exchange, seconds, stopping } = this.#options
    const { request, response, token } = exchange
    this.#state = 'waiting'
    this.#begun = performance.now()
    this.#applied = ['Preference-Applied', `wait=${seconds}`]
    this.#onOver = onOver
    const untilExpiry = (token?.exp ?? Number.POSITIVE_INFINITY) * 1000 - Date.now()
    this.#timer = setTimeout(this.finish, Math.min(seconds * 1000, untilExpiry))
    response.once('close', this.finish)
    request.socket.once('end', this.finish)
    request.resume() // the rest of a body would be late
    // Whoever goes away ends the connection. A client that only has nothing more to send is answered at once.
    if (request.socket.readableEnded || stopping.aborted) this.finish()
  }

  /** There is nothing more to wait for. */
  readonly finish = (): void => {
    if (this.#state !== 'waiting') return
    this.end()
    this.#onOver()
  }

  /** From now on, only an answer may follow. */
  end(): void {
    if (this.#state === 'waiting') {
      const { exchange } = this.#options
      clearTimeout(this.#timer)
      exchange.response.off('close', this.finish)
      exchange.request.socket.off('end', this.finish)
      // The time counts neither in the log nor in the metrics: nothing was slow.
      exchange.startedAt += performance.now() - this.#begun
    }
    this.#state = 'over'
  }

  /** @param state `undefined` if there is no such item. */
  answer(state: State | undefined): void {
    try {
      this.#resolve(state && resultOf(state, this.#options.conditions, this.#applied))
    } catch (error) {
      this.#reject(error)
    }
  }

  /** The client has the state that it was compared with last. */
  answerUnmodified(): void {
    const tag = this.#tag
    if (tag !== undefined) this.#resolve({ tag, modified: undefined, applied: this.#applied })
  }

  fail(error: unknown): void {
    this.#reject(error)
  }
}
