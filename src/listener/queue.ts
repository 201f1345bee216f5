/** Queue of requests that wait for an earlier one, and the memory limit across all such queues. @module */

import type { IncomingMessage, ServerResponse } from 'node:http'

/** Maximum number of requests in a queue, and maximum size of each body in bytes. */
const maxQueued = 16
const maxQueuedBody = 16 * 1024

/**
 * Estimated memory of a request, of each header line and of each piece of its body, in bytes, without their text. The
 * estimates are a sixth above the maximum measured on Node.js 20 to 26. A request with 120 short lines takes 17 KB.
 */
const requestBytes = 2560
const lineBytes = 150
const pieceBytes = 600

interface Queued {
  readonly response: ServerResponse
  /** Memory of the request, in bytes. */
  bytes: number
}

/** The waiting requests of one connection, as Node's objects. They wait for the request in progress. */
export class RequestQueue {
  readonly #queued: Queued[] = []
  readonly #count: (bytes: number) => void

  /** @param count called with each change of the queue's memory in bytes: positive for growth, otherwise negative. */
  constructor(count: (bytes: number) => void) {
    this.#count = count
  }

  get length(): number {
    return this.#queued.length
  }

  /** The response object of the last request in the queue. */
  get last(): ServerResponse | undefined {
    return this.#queued.at(-1)?.response
  }

  /** Returns whether the queue has space for a request, and the request is short enough. */
  canTake({ headers }: IncomingMessage): boolean {
    // A client that expects `100 Continue` waits before it sends the body, so the body would seem to be late.
    const isWhole = headers.expect === undefined && headers['transfer-encoding'] === undefined
    const isShort = Number(headers['content-length'] ?? 0) <= maxQueuedBody
    return this.#queued.length < maxQueued && isWhole && isShort
  }

  push(response: ServerResponse): void {
    const { req } = response
    const queued = { response, bytes: bytesOf(req) }
    this.#queued.push(queued)
    if (req.headers['content-length'] !== undefined) this.#countBody(queued)
    this.#count(queued.bytes)
  }

  /** Counts the body of a request. It arrives after the head, in pieces as small as one byte. */
  #countBody(queued: Queued): void {
    const { req } = queued.response
    const { push } = req
    req.push = (piece, encoding) => {
      if (piece !== null && this.#queued.includes(queued)) {
        const bytes = pieceBytes + piece.length
        queued.bytes += bytes
        this.#count(bytes)
      }
      return push.call(req, piece, encoding)
    }
  }

  /** Removes the first request from the queue. @returns the response to that request, if any. */
  shift(): ServerResponse | undefined {
    return this.#removed(this.#queued.shift())
  }

  /** Removes the last request from the queue. @returns the response to that request, if any. */
  pop(): ServerResponse | undefined {
    return this.#removed(this.#queued.pop())
  }

  #removed(queued: Queued | undefined): ServerResponse | undefined {
    if (queued !== undefined) this.#count(-queued.bytes)
    return queued?.response
  }

  /** Removes all requests from the queue, and clears them: Node keeps the objects until the connection is closed. */
  clear(): void {
    for (const { response, bytes } of this.#queued.splice(0)) {
      const { req } = response
      req.rawHeaders = []
      req.headers = {}
      req.url = ''
      this.#count(-bytes)
    }
  }
}

function bytesOf({ rawHeaders, url = '' }: IncomingMessage): number {
  let bytes = requestBytes + url.length + (rawHeaders.length / 2) * lineBytes
  for (const text of rawHeaders) bytes += text.length
  return bytes
}

/** A connection that can hold waiting requests in memory. */
export interface Holder {
  /** Memory for the waiting requests of this connection, in bytes. */
  readonly heldBytes: number
  /** Closes the connection and releases the memory that it holds, before this call returns. */
  giveUp(): void
}

/** Counts the memory that all connections hold for waiting requests, and enforces its limit. */
export class HeldBytes {
  readonly #maxBytes: number
  /**
   * Connections grouped by the number of binary digits of their `heldBytes`. So a connection with at least half as many
   * bytes as the largest one is found without a search.
   */
  readonly #bySize = Array.from({ length: 33 }, () => new Set<Holder>())
  #total = 0

  /** @param maxBytes limit on the bytes across all connections. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Whether the connections hold more than half of the limit in total. */
  get isCrowded(): boolean {
    return this.#total > this.#maxBytes / 2
  }

  /**
   * Updates the total. Must be called whenever the `heldBytes` of a connection has changed. While the total is above
   * the limit, closes the connections that hold the most.
   * @param before bytes that the connection held before the change.
   */
  changed(holder: Holder, before: number): void {
    const { heldBytes } = holder
    this.#total += heldBytes - before
    const size = digits(heldBytes)
    if (size !== digits(before)) {
      this.#bySize[digits(before)]?.delete(holder)
      if (size > 0) this.#bySize[size]?.add(holder)
    }
    // `giveUp` calls this function too, with fewer bytes than before. Such a call must not close further connections.
    while (heldBytes > before && this.#total > this.#maxBytes) {
      const [large] = this.#bySize.findLast(({ size }) => size > 0) ?? []
      large?.giveUp()
    }
  }
}

/** Returns the number of binary digits of a size; 0 for 0. */
function digits(bytes: number): number {
  return 32 - Math.clz32(bytes)
}
