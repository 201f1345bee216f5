/** A connection's queue of pipelined requests, and the memory limit for the queues of all connections. @module */

import { IncomingMessage, type ServerResponse } from 'node:http'

const maxQueued = 16
const maxQueuedBody = 16 * 1024

// Estimated overhead of a request, header line and body chunk, in bytes: the maximum on Node.js 20 to 26 plus a sixth.
const requestBytes = 2560
const lineBytes = 150
const pieceBytes = 600

interface Queued {
  readonly response: ServerResponse
  bytes: number
}

export class RequestQueue {
  readonly #queued: Queued[] = []
  readonly #count: (bytes: number) => void
  /** Replaces the `push` method of queued requests, to count each chunk of a body. A chunk can be a single byte. */
  readonly #push: IncomingMessage['push']

  constructor(count: (bytes: number) => void) {
    this.#count = count
    const countPiece = this.#countPiece.bind(this)
    // With a separate function for each request, V8 would free requests later, and each request would take 30% longer.
    this.#push = function (this: IncomingMessage, piece, encoding) {
      if (piece !== null) countPiece(this, piece.length)
      return IncomingMessage.prototype.push.call(this, piece, encoding)
    }
  }

  get length(): number {
    return this.#queued.length
  }

  get last(): ServerResponse | undefined {
    return this.#queued.at(-1)?.response
  }

  canTake({ headers }: IncomingMessage): boolean {
    // Requests that expect `100 Continue` are not queued, because their bodies arrive only after that response.
    const isWhole = headers.expect === undefined && headers['transfer-encoding'] === undefined
    const isShort = Number(headers['content-length'] ?? 0) <= maxQueuedBody
    return this.#queued.length < maxQueued && isWhole && isShort
  }

  push(response: ServerResponse): void {
    const { req } = response
    const bytes = bytesOf(req)
    this.#queued.push({ response, bytes })
    if (req.headers['content-length'] !== undefined) req.push = this.#push
    this.#count(bytes)
  }

  #countPiece(request: IncomingMessage, length: number): void {
    const queued = this.#queued.find(({ response }) => response.req === request)
    if (queued === undefined) return
    const bytes = pieceBytes + length
    queued.bytes += bytes
    this.#count(bytes)
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

  /** Removes all requests and clears their contents, because Node keeps the requests until the connection is closed. */
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

export interface Holder {
  readonly heldBytes: number
  /** Closes the connection. Must release the connection's memory before returning. */
  giveUp(): void
}

export class HeldBytes {
  readonly #maxBytes: number
  /** Connections, indexed by the bit length of `heldBytes`, so that a connection with many bytes is found quickly. */
  readonly #bySize = Array.from({ length: 33 }, () => new Set<Holder>())
  /** Sum of `heldBytes` of all connections. */
  total = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isCrowded(): boolean {
    return this.total > this.#maxBytes / 2
  }

  /** Must be called after each change to `heldBytes`. Above the limit, closes the connections that hold the most. */
  changed(holder: Holder, before: number): void {
    const { heldBytes } = holder
    this.total += heldBytes - before
    const size = binaryDigits(heldBytes)
    if (size !== binaryDigits(before)) {
      this.#bySize[binaryDigits(before)]?.delete(holder)
      if (size > 0) this.#bySize[size]?.add(holder)
    }
    // Only an increase closes connections, because `giveUp` causes a decrease and thus a call to this method.
    while (heldBytes > before && this.total > this.#maxBytes) {
      const [large] = this.#bySize.findLast(({ size }) => size > 0) ?? []
      large?.giveUp()
    }
  }
}

function binaryDigits(number: number): number {
  return 32 - Math.clz32(number)
}
