/**
 * The requests that wait for the same item, or for the list. After a change, one read answers all of them, and
 * those whose client has that state already wait on. A change during the read is followed by one more read.
 *
 * @module
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Awaitable } from '../store/item-store.js'
import type { EntityTag } from './conditions.js'
import { type BeginLater, isPortionOver } from './portions.js'
import type { Tagged, Wait } from './wait.js'

interface WaitGroupOptions<State extends Tagged> {
  /** Returns `undefined` if there is no such item. */
  readonly read: () => Awaitable<State | undefined>
  readonly beginLater: BeginLater
  /** Has `update` called soon. */
  readonly schedule: () => void
  /** Called when no request is left, and it is not going to be used any more. */
  readonly onEmpty: () => void
}

export class WaitGroup<State extends Tagged> {
  readonly #options: WaitGroupOptions<State>
  /** Requests that were not compared with any state yet. */
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

  /** Has to be called after each change. */
  changed(): void {
    this.#hasChanged = true
    this.#schedule()
  }

  /** Reads once, and answers the requests that need not wait any more. */
  async update(): Promise<void> {
    this.#isUpdating = true
    if (isPortionOver()) await nextTurn()
    // Requests that join later may be newer than what is read now.
    const arrived = this.#arrived
    const woken = this.#hasChanged ? [...this.#waiting] : []
    this.#arrived = []
    this.#hasChanged = false
    try {
      const state = await this.#options.read()
      const known = this.#tag
      this.#tag = state?.tag
      const compared = state?.tag === known ? arrived : [...this.#waiting, ...arrived]
      await this.#answer(await this.#answeredBy(state, compared), state)
    } catch (error) {
      this.#fail([...woken, ...arrived], error)
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
    for (const wait of waits) {
      if (isPortionOver()) await nextTurn()
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

  async #answer(waits: readonly Wait<State>[], state: State | undefined): Promise<void> {
    const { beginLater } = this.#options
    for (const wait of waits) if (!wait.wantsBody) beginLater(() => wait.answer(state))
    const withBody = waits.filter(({ wantsBody }) => wantsBody)
    try {
      if (withBody.length > 0) await state?.open?.()
      for (const wait of withBody) beginLater(() => wait.answer(state), state?.bodyBytes)
    } catch (error) {
      this.#fail(withBody, error)
    }
    // A turn after the last answer, whose handler runs in a promise.
    beginLater(() => setImmediate(() => state?.close?.()))
  }

  #fail(waits: readonly Wait<State>[], error: unknown): void {
    for (const wait of waits) {
      this.#take(wait)
      this.#options.beginLater(() => wait.fail(error))
    }
  }

  #take(wait: Wait<State>): void {
    this.#waiting.delete(wait)
    wait.end()
  }

  /** The wait is over without a change. */
  #giveUp(wait: Wait<State>): void {
    this.#waiting.delete(wait)
    this.#options.beginLater(() => wait.answerUnmodified())
    if (this.#isEmpty && !this.#isUpdating) this.#options.onEmpty()
  }
}
