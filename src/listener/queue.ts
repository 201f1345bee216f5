/** Requests that wait for an earlier one on their connection, and the limit on the memory that all of them take. @module */

import type { IncomingMessage, ServerResponse } from 'node:http'

/** Maximum number of requests in a queue, and of bytes in the body of each. */
const maxQueued = 16
const maxQueuedBody = 16 * 1024

/**
 * Memory that Node's objects take for a request, for each header line and for each piece of a body, in bytes,
 * besides their text: a sixth more than the most that was measured on Node.js 20 to 26. A request with 120 short
 * lines takes 17 KB.
 */
const requestBytes = 2560
const lineBytes = 150
const pieceBytes = 600

interface Queued {
  readonly response: ServerResponse
  /** Memory that the request takes. */
  bytes: number
}

/** The requests of one connection that wait, as Node's objects, for the one in progress. */
export class RequestQueue {
  readonly #queued: Queued[] = []
  readonly #count: (bytes: number) => void

  /** @param count is called with the bytes by which the memory of the queue has grown; they are negative if it shrank. */
  constructor(count: (bytes: number) => void) {
    this.#count = count
  }

  get length(): number {
    return this.#queued.length
  }

  /** The response to the last request. */
  get last(): ServerResponse | undefined {
    return this.#queued.at(-1)?.response
  }

  /** Whether there is room for a request, and it is short enough. */
  canTake({ headers }: IncomingMessage): boolean {
    // A client that expects `100 Continue` waits, and the rest would seem to be late.
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

  /** The body of a request arrives after its head, in pieces that may be a byte long. */
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

  /** Takes out the first request. */
  shift(): ServerResponse | undefined {
    return this.#removed(this.#queued.shift())
  }

  /** Takes out the last request. */
  pop(): ServerResponse | undefined {
    return this.#removed(this.#queued.pop())
  }

  #removed(queued: Queued | undefined): ServerResponse | undefined {
    if (queued !== undefined) this.#count(-queued.bytes)
    return queued?.response
  }

  /** Takes out all requests, and empties them: Node keeps the objects until the connection is closed. */
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

/** A connection that may hold requests. */
export interface Holder {
  /** Memory for the requests that wait on this connection, in bytes. */
  readonly heldBytes: number
  /** Closes the connection and releases what it holds, before this returns. */
  giveUp(): void
}

/** What all connections hold together. */
export class HeldBytes {
  readonly #maxBytes: number
  /**
   * Holders by the number of binary digits of what they hold. So one that holds at least half as much as the
   * largest is found without a look at all of them.
   */
  readonly #bySize = Array.from({ length: 33 }, () => new Set<Holder>())
  #total = 0

  /** @param maxBytes what all holders together may hold. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Whether more than half of the limit is held. */
  get isCrowded(): boolean {
    return this.#total > this.#maxBytes / 2
  }

  /**
   * Has to be called whenever `heldBytes` of a holder has changed. Beyond the limit, it gives up holders until
   * the rest is within the limit again.
   * @param before what the holder held before the change, in bytes.
   */
  changed(holder: Holder, before: number): void {
    const { heldBytes } = holder
    this.#total += heldBytes - before
    const size = digits(heldBytes)
    if (size !== digits(before)) {
      this.#bySize[digits(before)]?.delete(holder)
      if (size > 0) this.#bySize[size]?.add(holder)
    }
    // A holder that is given up gets here too, with less than before.
    while (heldBytes > before && this.#total > this.#maxBytes) {
      const [large] = this.#bySize.findLast(({ size }) => size > 0) ?? []
      large?.giveUp()
    }
  }
}

/** Number of binary digits; 0 for 0. */
function digits(bytes: number): number {
  return 32 - Math.clz32(bytes)
}
