/** Queue of requests that wait for an earlier request, and the memory limit across all such queues. @module */

import type { IncomingMessage, ServerResponse } from 'node:http'

const maxQueued = 16
/** Maximum size of the body of a request in a queue, in bytes. */
const maxQueuedBody = 16 * 1024

// The estimates below are a sixth above the maximum that was measured on Node.js 20 to 26. A request with 120 short
// header lines takes 17 KB.
/** Estimated memory of a request, in bytes, without its header lines and body. */
const requestBytes = 2560
/** Estimated memory of a header line, in bytes, without its text. */
const lineBytes = 150
/** Estimated memory of a piece of a body, in bytes, without the bytes of the body. */
const pieceBytes = 600

interface Queued {
  readonly response: ServerResponse
  /** Memory of the request, in bytes. */
  bytes: number
}

/** Requests that wait until the connection has answered the request in progress. They are kept as Node's objects. */
export class RequestQueue {
  readonly #queued: Queued[] = []
  readonly #count: (bytes: number) => void

  /**
   * @param count called with the change of the queue's memory, in bytes: positive if the queue grows, otherwise
   * negative.
   */
  constructor(count: (bytes: number) => void) {
    this.#count = count
  }

  get length(): number {
    return this.#queued.length
  }

  get last(): ServerResponse | undefined {
    return this.#queued.at(-1)?.response
  }

  /** Returns whether the queue has space for a request, and whether the request is short enough. */
  canTake({ headers }: IncomingMessage): boolean {
    // A client that expects `100 Continue` waits before it sends the body. In the queue, this body would seem to be
    // late.
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

  /**
   * Counts the memory of a request's body. The body arrives after the head, in pieces that may be as small as one byte.
   */
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

  shift(): ServerResponse | undefined {
    return this.#removed(this.#queued.shift())
  }

  pop(): ServerResponse | undefined {
    return this.#removed(this.#queued.pop())
  }

  #removed(queued: Queued | undefined): ServerResponse | undefined {
    if (queued !== undefined) this.#count(-queued.bytes)
    return queued?.response
  }

  /** Removes and empties all requests. Node keeps the request objects until the connection is closed. */
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
  /** Closes the connection. Must release the connection's memory before returning. */
  giveUp(): void
}

/** Counts the memory that all connections hold for waiting requests, and enforces a limit. */
export class HeldBytes {
  readonly #maxBytes: number
  /**
   * Connections, grouped by the number of binary digits of their `heldBytes`. All connections in the last group that is
   * not empty hold more than half as many bytes as the largest connection.
   */
  readonly #bySize = Array.from({ length: 33 }, () => new Set<Holder>())
  #total = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Whether the total of all connections exceeds half of the limit. */
  get isCrowded(): boolean {
    return this.#total > this.#maxBytes / 2
  }

  /**
   * Updates the total. While the total is above the limit, closes the connections that hold the most. A connection must
   * call this function whenever its `heldBytes` has changed.
   * @param before bytes that the connection held before the change.
   */
  changed(holder: Holder, before: number): void {
    const { heldBytes } = holder
    this.#total += heldBytes - before
    const size = binaryDigits(heldBytes)
    if (size !== binaryDigits(before)) {
      this.#bySize[binaryDigits(before)]?.delete(holder)
      if (size > 0) this.#bySize[size]?.add(holder)
    }
    // `giveUp` calls this function again, for the bytes that the closed connection no longer holds. That call must not
    // close another connection.
    while (heldBytes > before && this.#total > this.#maxBytes) {
      const [large] = this.#bySize.findLast(({ size }) => size > 0) ?? []
      large?.giveUp()
    }
  }
}

function binaryDigits(number: number): number {
  return 32 - Math.clz32(number)
}
