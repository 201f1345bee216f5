/**
 * Handles the requests that arrive in one turn of the event loop together, and then sends their responses
 * together. That takes a sixth less time for reads than to alternate between the two, and a third less for
 * creates (bench/CHOICES.md): each step finds what it needs in the processor's caches, and clients on the same
 * machine are woken less often.
 *
 * @module
 */

import type { ServerResponse } from 'node:http'

/** The requests and responses of one listener in a turn of the event loop. */
export interface Turn {
  /**
   * Handles a request at the end of this turn, or of a later one if there are many. By then Node's parser has
   * parsed everything that has arrived of the request, which includes the whole of most bodies.
   */
  handle(response: ServerResponse, handler: () => void): void
  /** Handles a request at once if it is still to be handled. */
  handleNow(response: ServerResponse | undefined): void
  /**
   * Ends a response, along with the others of this turn.
   * @param body the last or only part of the body; a string has one byte per character (`latin1` in Node).
   */
  end(response: ServerResponse, body?: string | Buffer): void
}

/** A request that has arrived. */
interface Arrived {
  readonly response: ServerResponse
  /** `undefined` once it has been handled. */
  handler: (() => void) | undefined
}

/** Maximum number of responses sent together: more gain nothing and delay the first. */
const maxReady = 64

/** @param maxHandled returns how many requests are handled in this turn, at most; the others have to wait. */
export function createTurn(maxHandled: () => number): Turn {
  // Arrays that are dropped after use: a table that stays would keep requests for longer than V8's quick collections
  // take, which then cost half as much again as a read.
  let arrived: Arrived[] = []
  let ready: { readonly response: ServerResponse; readonly body: string | Buffer }[] = []
  let isScheduled = false

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(handleArrived)
    setImmediate(sendScheduled) // after the promises of those handlers
  }

  function handleArrived(): void {
    const handled = arrived.slice(0, maxHandled())
    for (const request of handled) handle(request)
    arrived = arrived.slice(handled.length)
  }

  function handle(request: Arrived | undefined): void {
    const handler = request?.handler
    if (request !== undefined) request.handler = undefined
    handler?.()
  }

  function sendScheduled(): void {
    isScheduled = false
    sendReady()
    if (arrived.length > 0) schedule()
  }

  function sendReady(): void {
    const responses = ready
    ready = []
    for (const { response, body } of responses) {
      if (body.length > 0) {
        // `end(body)` would add an empty piece, for which Node needs a vectored write.
        response.write(body, 'latin1')
        response.socket?.uncork()
      }
      response.end()
    }
  }

  return {
    handle(response, handler) {
      arrived.push({ response, handler })
      schedule()
    },
    handleNow(response) {
      handle(arrived.find((request) => request.response === response))
    },
    end(response, body = '') {
      ready.push({ response, body })
      schedule()
      if (ready.length === maxReady) sendReady()
    },
  }
}
