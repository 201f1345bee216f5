/**
 * Handles the requests that arrive in one turn of the event loop together, and then sends their responses
 * together. That takes a sixth less time for reads than to alternate between the two, and a third less for
 * creates (bench/CHOICES.md): each step finds what it needs in the processor's caches, and clients on the same
 * machine are woken less often.
 *
 * @module
 */

import type { ServerResponse } from 'node:http'

/** A request that has arrived. */
interface Arrived {
  readonly response: ServerResponse
  /** `undefined` once it has been handled. */
  handler: (() => void) | undefined
}

/** Maximum number of responses sent together: more gain nothing and delay the first. */
const maxReady = 64

/** The requests and responses of one listener in a turn of the event loop. */
export class Turn {
  readonly #maxHandled: () => number
  // Arrays that are dropped after use: a table that stays would keep requests for longer than V8's quick collections
  // take, which then cost half as much again as a read.
  #arrived: Arrived[] = []
  #ready: { readonly response: ServerResponse; readonly body: string | Buffer }[] = []
  #isScheduled = false

  /** @param maxHandled returns how many requests are handled in this turn, at most; the others have to wait. */
  constructor(maxHandled: () => number) {
    this.#maxHandled = maxHandled
  }

  /**
   * Handles a request at the end of this turn, or of a later one if there are many. By then Node's parser has
   * parsed everything that has arrived of the request, which includes the whole of most bodies.
   */
  handle(response: ServerResponse, handler: () => void): void {
    this.#arrived.push({ response, handler })
    this.#schedule()
  }

  /** Handles a request at once if it is still to be handled. */
  handleNow(response: ServerResponse | undefined): void {
    const request = this.#arrived.find((each) => each.response === response)
    if (request !== undefined) run(request)
  }

  /**
   * Ends a response, along with the others of this turn.
   * @param body the last or only part of the body; a string has one byte per character (`latin1` in Node).
   */
  end(response: ServerResponse, body: string | Buffer = ''): void {
    this.#ready.push({ response, body })
    this.#schedule()
    if (this.#ready.length === maxReady) this.#sendReady()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#handleArrived)
    setImmediate(this.#endTurn) // after the promises of those handlers
  }

  readonly #handleArrived = () => {
    const handled = this.#arrived.slice(0, this.#maxHandled())
    for (const request of handled) run(request)
    this.#arrived = this.#arrived.slice(handled.length)
  }

  readonly #endTurn = () => {
    this.#isScheduled = false
    this.#sendReady()
    if (this.#arrived.length > 0) this.#schedule()
  }

  #sendReady(): void {
    const responses = this.#ready
    this.#ready = []
    for (const { response, body } of responses) {
      if (body.length > 0) {
        // `end(body)` would add an empty piece, for which Node needs a vectored write.
        response.write(body, 'latin1')
        response.socket?.uncork()
      }
      response.end()
    }
  }
}

function run(request: Arrived): void {
  const { handler } = request
  request.handler = undefined
  handler?.()
}
