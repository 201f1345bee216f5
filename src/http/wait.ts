/** Requests that may have to wait for a change, one by one and in groups. @module */

import type { HeaderList } from '../interface/names.js'
import type { Awaitable } from '../store/item-store.js'
import {
  type Conditions,
  type EntityTag,
  isMatch,
  isNoneMatch,
  preconditionFailed,
} from './conditions.js'
import type { Exchange } from './exchange.js'
import { sendTurn, workTurn } from './turns.js'

/** An item or list that was read, with its tag. All requests that it answers share it. */
export interface Tagged {
  readonly tag: EntityTag
  /** Length of the body in bytes, or 0 if it is not known yet. */
  readonly bodyBytes: number
  /** Reads the body. Called before the first request that gets a body is answered. */
  open?(): Promise<void>
  /** Called after the last request is answered. */
  close?(): void
}

/** The result of a conditional read. */
export interface ReadResult<State extends Tagged> {
  /** The tag at the last read. */
  readonly tag: EntityTag
  /** `undefined` if the client has this state already: a request that waits does not keep it in memory. */
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

/** A request that waits until it is answered, its time is over, its token expires, its client leaves or the service stops. */
export class Wait<State extends Tagged> {
  /** Resolves to the state that answers it; `undefined` if there is no such item. */
  readonly state: Promise<State | undefined>
  /** Settles `state`. */
  answer: (state: State | undefined) => void = () => {}
  fail: (error: unknown) => void = () => {}
  /** `Preference-Applied`, if it has waited. */
  applied: HeaderList = []
  isOver = false
  readonly #options: WaitOptions
  /** When it began to wait, as a value of `performance.now()`. */
  #begun = 0
  /** Tag of the state that it was compared with last. */
  #tag: EntityTag | undefined
  /** Set while it waits. */
  #timer: NodeJS.Timeout | undefined
  #onOver = () => {}

  constructor(options: WaitOptions) {
    this.#options = options
    this.state = new Promise((resolve, reject) => {
      this.answer = resolve
      this.fail = reject
    })
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
    this.#begun = performance.now()
    this.applied = ['Preference-Applied', `wait=${seconds}`]
    this.#onOver = onOver
    const untilExpiry = (token?.exp ?? Number.POSITIVE_INFINITY) * 1000 - Date.now()
    this.#timer = setTimeout(this.finish, Math.min(seconds * 1000, untilExpiry))
    response.once('close', this.finish)
    request.socket.once('end', this.finish)
    request.resume() // the rest of a body would be late
    // A client that goes away ends the connection. One that only has nothing more to send is answered at once.
    if (request.socket.readableEnded || stopping.aborted) this.finish()
  }

  /** Ends the wait without an answer. */
  readonly finish = (): void => {
    if (this.#timer === undefined) return
    this.end()
    this.#onOver()
  }

  /** Ends the wait; an answer has to follow. */
  end(): void {
    this.isOver = true
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { exchange } = this.#options
    exchange.response.off('close', this.finish)
    exchange.request.socket.off('end', this.finish)
    // The time counts neither in the log nor in the metrics: nothing was slow.
    exchange.startedAt += performance.now() - this.#begun
  }

  /** The client has the state that it was compared with last. */
  answerUnmodified(): void {
    this.answer({ tag: this.#tag } as State) // of a state that is not modified, only the tag is used
  }
}

interface WaitGroupOptions<State extends Tagged> {
  /** Returns `undefined` if there is no such item. */
  readonly read: () => Awaitable<State | undefined>
  /** Calls `update` soon. */
  readonly schedule: () => void
  /** Called when no request is left; the group is not used any more. */
  readonly onEmpty: () => void
}

/** Number of requests that are compared with a state in one turn: a fifth of a millisecond. */
const comparedPerTurn = 64

/**
 * The requests that wait for the same item, or for the list. After a change, one read answers all of them, and
 * requests whose client has that state already wait on. A change during the read is followed by one more read.
 */
export class WaitGroup<State extends Tagged> {
  readonly #options: WaitGroupOptions<State>
  /** Requests that have not been compared with any state. */
  #arrived: Wait<State>[] = []
  readonly #waiting = new Set<Wait<State>>()
  /** The tag of the state that was read last. Requests that wait have been compared with it. */
  #tag: EntityTag | undefined
  #hasChanged = false
  #isUpdating = false

  constructor(options: WaitGroupOptions<State>) {
    this.#options = options
  }

  join(wait: Wait<State>): void {
    this.#arrived.push(wait)
    this.#schedule()
  }

  /** To be called after each change. */
  changed(): void {
    this.#hasChanged = true
    this.#schedule()
  }

  /** Reads once, and answers the requests that need not wait any more. */
  async update(): Promise<void> {
    this.#isUpdating = true
    await workTurn()
    // Requests that join later may be newer than what is read now.
    const arrived = this.#arrived
    let concerned = this.#hasChanged ? [...this.#waiting, ...arrived] : arrived
    this.#arrived = []
    this.#hasChanged = false
    try {
      const state = await this.#options.read()
      const known = this.#tag
      this.#tag = state?.tag
      const compared = state?.tag === known ? arrived : [...this.#waiting, ...arrived]
      concerned = await this.#answeredBy(state, compared)
      if (concerned.some(({ wantsBody }) => wantsBody)) await state?.open?.()
      for (const wait of concerned) {
        await sendTurn(wait.wantsBody ? state?.bodyBytes : 0)
        wait.answer(state)
      }
      setImmediate(() => state?.close?.()) // after the last answer, whose handler runs in a promise
    } catch (error) {
      for (const wait of concerned) {
        this.#take(wait)
        await sendTurn()
        wait.fail(error)
      }
    }
    this.#isUpdating = false
    if (this.#isEmpty) this.#options.onEmpty()
    else if (this.#hasChanged || this.#arrived.length > 0) this.#schedule()
  }

  get #isEmpty(): boolean {
    return this.#arrived.length === 0 && this.#waiting.size === 0
  }

  #schedule(): void {
    if (!this.#isUpdating) this.#options.schedule()
  }

  /** Returns the requests that the state answers, and lets the others wait on. */
  async #answeredBy(
    state: State | undefined,
    waits: readonly Wait<State>[],
  ): Promise<Wait<State>[]> {
    const answered: Wait<State>[] = []
    for (const [place, wait] of waits.entries()) {
      if (place % comparedPerTurn === comparedPerTurn - 1) await workTurn()
      if (wait.isOver) continue
      if (state === undefined || wait.isAnsweredBy(state)) {
        this.#take(wait)
        answered.push(wait)
      } else if (!this.#waiting.has(wait)) {
        this.#waiting.add(wait)
        wait.begin(() => this.#giveUp(wait))
      }
    }
    return answered
  }

  #take(wait: Wait<State>): void {
    this.#waiting.delete(wait)
    wait.end()
  }

  /** Answers a request whose wait is over without a change. */
  #giveUp(wait: Wait<State>): void {
    this.#waiting.delete(wait)
    void sendTurn().then(() => wait.answerUnmodified())
    if (this.#isEmpty && !this.#isUpdating) this.#options.onEmpty()
  }
}
