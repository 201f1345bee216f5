/**
 * State machine of a connection and its current request, built on Node's own objects.
 *
 *     waiting ──request──▶ serving ──begin──▶ responding ──sent──▶ waiting, or ending ──body read──▶ closing
 *        │                    └──body malformed or late──▶ refusing ──sent──▶ closing
 *        └──request malformed or late──▶ closing
 *
 * A few pipelined requests (RFC 9112 §9.3.2) wait in a queue. When the queue is full, or a request with a large body
 * arrives, the connection stops Node's parser in the way that an upgrade does. Otherwise, the parser would create
 * objects for up to 1,600 requests in 64 KB of input. The unparsed bytes are held until the queue is empty.
 *
 * A connection is closed in stages (RFC 9112 §9.6). If it were closed with unread input, the system would reset the
 * connection, and the client would lose the end of the last response. @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Batch } from './batch.js'
import { type Parser, parserOf, upgrade } from './node-internals.js'
import { type HeldBytes, type Holder, RequestQueue } from './queue.js'
import { closingHeaders, type RefusalResponse, refusalText } from './refusal.js'

type ConnectionState =
  | 'waiting'
  | 'serving'
  | 'responding'
  /** The listener, not the application, is rejecting a malformed or late body. */
  | 'refusing'
  /** The last response has been sent, and the rest of its request body is being read. */
  | 'ending'
  /** Further input is read and discarded. */
  | 'closing'

export interface ConnectionOwner {
  /** Whether the listener is stopping. If so, each connection is closed after the response to its last request. */
  readonly isStopping: boolean
  readonly batch: Batch
  /** Memory held by waiting requests on all connections. While it exceeds half of the limit, no input is parsed. */
  readonly held: HeldBytes
  /** Called when a connection can take its next request. The owner must later call `resume`. */
  readyToResume(connection: Connection): void
  serveNext(connection: Connection, response: ServerResponse): void
}

/** Time for which input is discarded after the last response, in milliseconds. */
const lingerTime = 2_000

export class Connection implements Holder {
  readonly socket: Socket
  readonly batch: Batch
  heldBytes = 0
  /** Whether a request has arrived. Until then, Node enforces the request timeout and sends the 408. */
  hasHadRequest = false
  readonly #owner: ConnectionOwner
  #state: ConnectionState = 'waiting'
  /** The latest response, kept until the response has been sent and its request has arrived completely. */
  #response: ServerResponse | undefined
  readonly #queue = new RequestQueue((bytes) => this.#setHeld(this.heldBytes + bytes))
  /** Response that rejects any input after the last complete request. */
  #nextRefusal: RefusalResponse | undefined
  #isInputBroken = false
  /** Start of the current idle time, as a value of `performance.now()`. */
  #activeAt = performance.now()
  /** Number of bytes that had been received when the connection began its first response during a shutdown. */
  #readWhenStopping: number | undefined
  /** Number of output bytes that the system had accepted at the latest call to `isStalledFor`. */
  #accepted = 0
  #acceptedAt = performance.now()

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.socket = socket
    this.batch = owner.batch
    this.#owner = owner
    socket.on('error', () => socket.destroy()) // Node handles errors only while it has a parser
    socket.once('close', () => this.#dropWaiting())
    socket.destroySoon = () => this.close() // Node calls this after the last response
  }

  get state(): ConnectionState {
    return this.#state
  }

  get isFree(): boolean {
    return this.#queue.length === 0 && this.#state === 'waiting'
  }

  get #isOver(): boolean {
    return this.#state === 'ending' || this.#state === 'closing'
  }

  /** Makes Node's parser stop at each request that can be neither served immediately nor queued. */
  watchParser(): void {
    const { socket } = this
    const parser = parserOf(socket)
    const { onIncoming } = parser
    parser.onIncoming = (request, shouldKeepAlive) => {
      // The parser is also stopped after rejected input and at upgrades, during which Node reports no errors.
      const canTake = this.isFree || this.#canQueue(request)
      if (canTake && !request.upgrade && !this.#isInputBroken)
        return onIncoming(request, shouldKeepAlive)
      socket.pause() // a socket without a parser would continue to read
      // Node would resume the socket to read the body of an earlier request, but further input must wait.
      socket.resume = () => socket
      request.upgrade = true
      return upgrade
    }
  }

  #canQueue(request: IncomingMessage): boolean {
    // A listener that accepted more requests while stopping might never stop.
    const { isStopping, held } = this.#owner
    if (isStopping || held.isCrowded || this.#isOver || this.#state === 'refusing') return false
    // While output waits to drain, Node reads no input, so the rest of a queued request would seem late.
    return !this.socket.writableNeedDrain && this.#queue.canTake(request)
  }

  /** Returns whether to serve the request now. A request that follows the last response is ignored (RFC 9112 §9.6). */
  accept(response: ServerResponse): boolean {
    if (this.isFree) {
      this.#begin(response)
      return true
    }
    if (!this.#isOver) this.#queue.push(response)
    return false
  }

  #begin(response: ServerResponse): void {
    this.#state = 'serving'
    this.#response = response
    this.hasHadRequest = true
    response.on('close', this.#sent)
  }

  readonly #sent = () => {
    const response = this.#response
    if (response?.writableFinished !== true) return // the client has disconnected
    if (this.#state !== 'closing') this.#state = response.shouldKeepAlive ? 'waiting' : 'ending'
    this.#release()
    if (this.heldBytes > 0) this.#owner.readyToResume(this)
    // The rejection is sent here, because Node would not send it after the client has closed its side.
    else if (this.#isInputBroken) this.#end()
  }

  /** Drops references to the request and response, because they take several times the memory of a connection. */
  #release(): void {
    const isSent = this.#isOver || this.#state === 'waiting'
    if (isSent && this.#response?.req.complete) this.#response = undefined
  }

  /** Begins the response to the current request. Returns `false` if the listener has rejected the request. */
  beginResponse(): boolean {
    const response = this.#response
    if (response === undefined || this.#state !== 'serving') return false
    this.#state = 'responding'
    this.markActive()
    if (this.#owner.isStopping && this.#isLastResponse()) response.shouldKeepAlive = false
    if (isBodyIncomplete(response.req)) response.req.once('end', () => this.#release())
    return true
  }

  #isLastResponse(): boolean {
    const { bytesRead, readableLength } = this.socket // `readableLength` includes the bytes of held requests
    this.#readWhenStopping ??= bytesRead
    return this.#queue.length === 0 && bytesRead - readableLength >= this.#readWhenStopping
  }

  /** Restarts the idle timer, because the client may be about to send a request. */
  markActive(): void {
    this.#activeAt = performance.now()
  }

  get isRequestBroken(): boolean {
    return this.#isInputBroken && this.#response?.req.complete === false
  }

  /** Unless the response has begun, rejects the request in progress and closes the connection. */
  refuseRequest(refusal: RefusalResponse): void {
    const response = this.#response
    if (response === undefined || !this.beginResponse()) return
    this.#state = 'refusing'
    response.shouldKeepAlive = false
    response.writeHead(refusal.status, closingHeaders(refusal))
    this.batch.end(response, refusal.body)
  }

  /** Rejects malformed or late input, once the responses to earlier, complete requests have been sent. */
  refuseInput(refusal: RefusalResponse): void {
    const response = this.#queue.last ?? this.#response
    const isInBody = response?.req.complete === false
    this.#isInputBroken = true
    this.batch.handleNow(this.#response) // a rejection by the application takes precedence
    const state = this.#state
    if (this.#queue.length > 0) {
      if (isInBody) this.#queue.pop()
      const hasBody = !isInBody || response.req.method !== 'HEAD'
      this.#nextRefusal ??= hasBody ? refusal : { ...refusal, body: '' }
    } else if (state === 'serving' && isInBody) {
      this.refuseRequest(refusal)
    } else if (state !== 'refusing') {
      if (!isInBody) this.#nextRefusal ??= refusal
      if (state !== 'serving' && state !== 'responding') this.#end()
    }
  }

  /** Holds a request at which the parser has stopped, until it can be served. @param rest bytes after its head. */
  hold(request: IncomingMessage, rest: Buffer): void {
    const { socket } = this
    if (this.#isOver) {
      this.#discardInput()
      return
    }
    const head = headOf(request)
    this.#setHeld(this.heldBytes + head.length + rest.buffer.byteLength)
    if (this.#isOver) return // `#setHeld` has closed the connection, because it holds too much
    // The held bytes are put back into the socket, so that they are read before the end of the input.
    socket.unshift(rest)
    socket.unshift(head)
    if (this.isFree) this.#owner.readyToResume(this)
  }

  /** Serves the next held request. @param server HTTP server, which creates a new parser for the held bytes. */
  resume(server: NodeJS.EventEmitter): void {
    const { socket } = this
    const canGoOn = socket.writable && !this.#isOver
    const next = canGoOn ? this.#queue.shift() : undefined
    if (!canGoOn) {
      this.#dropWaiting()
    } else if (next !== undefined) {
      this.#begin(next)
      this.#owner.serveNext(this, next)
    } else if (this.#isInputBroken) {
      this.#end()
    } else {
      this.#setHeld(0)
      socket.resume = Socket.prototype.resume
      server.emit('connection', socket)
    }
  }

  #dropWaiting(): void {
    this.#queue.clear()
    this.#setHeld(0)
  }

  #setHeld(bytes: number): void {
    const before = this.heldBytes
    this.heldBytes = bytes
    if (bytes !== before) this.#owner.held.changed(this, before)
  }

  giveUp(): void {
    this.#state = 'closing'
    this.#dropWaiting()
    // Since Node.js 26, each call to `read` returns only one chunk.
    while (this.socket.readableLength > 0 && this.socket.read() !== null);
    this.socket.destroy()
  }

  /** Closes the connection in stages, after the end of any request body that is still arriving. */
  close(): void {
    const request = this.#response?.req
    if (request === undefined || !isBodyIncomplete(request) || this.#isInputBroken) this.#end()
    else request.once('end', () => this.#end())
  }

  #end(): void {
    const { socket } = this
    if (this.#state === 'closing') return
    const isLast = this.#state === 'ending' || this.#response?.shouldKeepAlive === false
    this.#state = 'closing'
    if (!socket.writable) {
      socket.destroy()
      return
    }
    // No rejection may follow a response with `Connection: close`.
    const refusal = isLast ? undefined : this.#nextRefusal
    if (refusal === undefined) socket.end()
    else socket.end(refusalText(refusal))
    this.#discardInput()
    const timer = setTimeout(() => socket.destroy(), lingerTime)
    socket.once('close', () => clearTimeout(timer))
  }

  #discardInput(): void {
    const { socket } = this
    this.#dropWaiting()
    socket.removeAllListeners('data')
    socket.resume = Socket.prototype.resume
    socket.push('') // ends an unfinished read of Node's parser, which would block other reads
    socket.on('data', () => undefined).resume()
  }

  /** Returns whether the connection has been idle for `time` ms. Empty lines are ignored (RFC 9112 §2.2). */
  isIdleFor(now: number, time: number, reading: ReadonlySet<Parser>): boolean {
    const { socket } = this
    if (now - this.#activeAt < time || this.#state !== 'waiting') return false
    if (this.heldBytes > 0 || socket.writableLength > 0) return false
    if (this.#response?.req.complete === false) return false
    if (this.hasHadRequest) return !reading.has(parserOf(socket))
    return this.#owner.isStopping && socket.bytesRead === 0
  }

  /** Returns whether output has made no progress for `time` milliseconds. Must be called regularly. */
  isStalledFor(now: number, time: number): boolean {
    const unsent = this.socket.writableLength
    const accepted = this.socket.bytesWritten - unsent
    if (unsent === 0 || accepted !== this.#accepted) {
      this.#accepted = accepted
      this.#acceptedAt = now
    }
    return now - this.#acceptedAt >= time
  }
}

function isBodyIncomplete({ complete, headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  const hasBody = headers['transfer-encoding'] !== undefined || (length ?? '0') !== '0'
  return hasBody && !complete
}

/** Returns the head of a request as the client sent it, except for white space and the `Upgrade` header. */
function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (/^upgrade$/i.test(rawHeaders[at] ?? '')) continue
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
