/** Requests that wait for a change to an item or list (`Prefer: wait`). @module */

import type { HeaderList } from '../interface/paths.js'
import { clearTimeout, performance, setTimeout } from '../memory/timers.js'
import type { Awaitable } from '../store/item-store.js'
import { type Conditions, type EntityTag, isMatch, isNoneMatch } from './conditions.js'
import type { Exchange } from './exchange.js'
import { untilMaySend, untilWorkMayRun } from './pacing.js'

/** A state of an item or list. All requests that it answers share one object. */
export interface Tagged {
  readonly tag: EntityTag
  readonly bodyBytes: number // in bytes; 0 while unknown
  /** Called before the first response with this state in its body. */
  open?(): Promise<void>
}

/** A tag and, unless the request knows it, the state with this tag. */
export type Answer<State> = { readonly tag: EntityTag; readonly state?: State }

interface WaitOptions {
  readonly exchange: Exchange
  readonly conditions: Conditions
  readonly seconds: number
  readonly isStopping: () => boolean
}

/** A request that waits for a change until its token expires, its client leaves or the service stops. */
export class Wait<State extends Tagged> {
  readonly answered: Promise<Answer<State> | undefined>
  answer: (answer: Answer<State> | undefined) => void = () => {}
  fail: (error: unknown) => void = () => {}
  preferenceHeaders: HeaderList = []
  isOver = false
  readonly #options: WaitOptions
  #begun = 0
  #tag: EntityTag | undefined
  #timer: NodeJS.Timeout | undefined
  #onOver = () => {}

  constructor(options: WaitOptions) {
    this.#options = options
    this.answered = new Promise((resolve, reject) => {
      this.answer = resolve
      this.fail = reject
    })
  }

  get wantsBody(): boolean {
    return this.#options.exchange.request.method !== 'HEAD'
  }

  /** Remembers the tag of a state, and returns whether the state answers the request. */
  compare({ tag }: State): boolean {
    const { conditions } = this.#options
    this.#tag = tag
    return !isMatch(conditions, tag) || isNoneMatch(conditions, tag)
  }

  /** Starts to wait. Calls `onOver` if the wait ends without a change. */
  begin(onOver: () => void): void {
    const { exchange, seconds, isStopping } = this.#options
    const { connection, request, response, token } = exchange
    this.#begun = performance.now()
    this.preferenceHeaders = ['Preference-Applied', `wait=${seconds}`]
    this.#onOver = onOver
    const untilExpiry = (token?.exp ?? Number.POSITIVE_INFINITY) * 1000 - Date.now()
    this.#timer = setTimeout(this.finish, Math.min(seconds * 1000, untilExpiry))
    response.once('close', this.finish)
    request.socket.once('end', this.finish)
    request.resume() // the listener would refuse the rest of a body as late
    // Ends the wait at once if the client left during the first read, or closed its side and may have left. Also if a
    // pipelined request is deferred: meanwhile, the connection wouldn't notice that the client leaves.
    const isGone = response.destroyed || request.socket.readableEnded
    if (isGone || connection.bufferedBytes > 0 || isStopping()) this.finish()
  }

  readonly finish = (): void => {
    if (this.#timer === undefined) return
    this.end()
    this.#onOver()
  }

  /** Ends the wait. The caller must answer the request. */
  end(): void {
    this.isOver = true
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { exchange } = this.#options
    exchange.response.off('close', this.finish)
    exchange.request.socket.off('end', this.finish)
    // The logged duration leaves out the wait, which doesn't mean that the service was slow.
    exchange.startedAt += performance.now() - this.#begun
  }

  answerUnmodified(): void {
    this.answer(this.#tag && { tag: this.#tag })
  }
}

interface WaitGroupOptions<State extends Tagged> {
  readonly read: () => Awaitable<State | undefined>
  readonly schedule: () => void // must read the state, and then call `update`
  readonly onEmpty: () => void // an empty group isn't used again
}

const comparedPerTurn = 64 // they take 0.2 ms
const retryAfter = 500 // ms until a failed read of a change is repeated

/** Requests that wait for the same item or list. One read after a change serves all of them. */
export class WaitGroup<State extends Tagged> {
  readonly #options: WaitGroupOptions<State>
  #arrived: Wait<State>[] = []
  readonly #waiting = new Set<Wait<State>>()
  #hasChanged = false
  #failure: unknown // why the latest change could not be read; `undefined` once it has been
  #retry: NodeJS.Timeout | undefined // only one: with a chain of retries for each change, their number would grow
  #isUpdating = false

  constructor(options: WaitGroupOptions<State>) {
    this.#options = options
  }

  join(wait: Wait<State>): void {
    this.#arrived.push(wait)
    this.#schedule()
  }

  changed(): void {
    this.#hasChanged = true
    this.#schedule()
  }

  async update(): Promise<void> {
    this.#isUpdating = true
    await untilWorkMayRun()
    // Requests that arrive during this read may need newer data, so they are left for the next read.
    let concerned = this.#arrived
    const hadChanged = this.#hasChanged
    this.#arrived = []
    this.#hasChanged = false
    try {
      const state = await this.#options.read()
      this.#failure = undefined
      const compared = hadChanged ? [...this.#waiting, ...concerned] : concerned
      concerned = await this.#answeredBy(state, compared)
      if (concerned.some(({ wantsBody }) => wantsBody)) await state?.open?.()
      for (const wait of concerned) {
        await untilMaySend(wait.wantsBody ? state?.bodyBytes : 0)
        wait.answer(state && { tag: state.tag, state })
      }
    } catch (error) {
      // The requests that already wait go on waiting for a read that succeeds.
      if (hadChanged && this.#waiting.size > 0) {
        this.#failure = error
        this.#retry ??= setTimeout(() => {
          this.#retry = undefined
          if (!this.#isEmpty) this.changed()
        }, retryAfter).unref()
      }
      for (const wait of concerned) {
        this.#take(wait)
        await untilMaySend()
        wait.fail(error)
      }
    }
    this.#isUpdating = false
    if (this.#isEmpty) this.#options.onEmpty()
    else if (this.#arrived.length > 0 || this.#hasChanged) this.#schedule()
  }

  get #isEmpty(): boolean {
    return this.#arrived.length === 0 && this.#waiting.size === 0
  }

  #schedule(): void {
    if (!this.#isUpdating) this.#options.schedule()
  }

  async #answeredBy(state: State | undefined, waits: readonly Wait<State>[]) {
    const answered: Wait<State>[] = []
    for (const [place, wait] of waits.entries()) {
      if (place % comparedPerTurn === comparedPerTurn - 1) await untilWorkMayRun()
      if (wait.isOver) continue
      if (state === undefined || wait.compare(state)) {
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

  #giveUp(wait: Wait<State>): void {
    this.#waiting.delete(wait)
    // If a change could not be read, the request fails: a 304 might be wrong.
    const failure = this.#failure
    void untilMaySend().then(() => (failure ? wait.fail(failure) : wait.answerUnmodified()))
    if (this.#isEmpty && !this.#isUpdating) this.#options.onEmpty()
  }
}
