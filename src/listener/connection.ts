/**
 * State machine of a connection and its current request, built on Node's own objects.
 *
 *     waiting ──request──▶ serving ──begin──▶ responding ──sent──▶ waiting or closing
 *        │                    └──body malformed or late──▶ refusing ──sent──▶ closing
 *        └──request malformed or late──▶ closing
 *
 * Input behind an unanswered request (pipelining, RFC 9112 §9.3.2) is buffered as bytes. Node's parser stops at the
 * next request, as it does for an upgrade; otherwise, it would create objects for up to 1,600 requests in 64 KB of
 * input. After the response, a new parser reads the buffered bytes.
 *
 * A connection is closed in stages (RFC 9112 §9.6). If it were closed with unread input, the system would reset the
 * connection, and the client would lose the end of the last response. @module
 */

import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { BufferedBytes, Holder } from '../memory/buffered-bytes.js'
import { clearInterval, performance, setInterval } from '../memory/timers.js'
import type { Batch } from './batch.js'
import { headIn, onExecute, onMessageBegin, parserOf, upgrade } from './node-internals.js'
import { asksToClose, closingHeaders, type RefusalResponse, refusalText } from './refusal.js'

type ConnectionState =
  | 'waiting'
  | 'serving'
  | 'responding'
  /** The listener, not the application, is rejecting a malformed or late body. */
  | 'refusing'
  /** The last response has been sent, and further input is discarded. */
  | 'closing'

export interface ConnectionOwner {
  readonly isStopping: boolean // each connection is closed after its next response
  readonly batch: Batch
  readonly buffered: BufferedBytes
  readonly requestTimeout: number // ms in which a request must arrive
  /** Lets Node read further requests from a socket with a new parser. */
  parse(socket: Socket): void
}

const nothing: Buffer = Buffer.alloc(0)
const maxHead = 128 * 1024 // bytes of a chunk, a head, and white space in it that Node doesn't count
const lingerTime = 2_000 // ms to wait for and discard input after the last response

export class Connection implements Holder {
  readonly socket: Socket
  readonly batch: Batch
  bufferedBytes = 0
  hasHadRequest = false // until then, Node enforces the request timeout and sends the 408
  readonly #owner: ConnectionOwner
  #state: ConnectionState = 'waiting'
  /** Latest response, until it has been sent and its request has arrived completely. */
  #response: ServerResponse | undefined
  #isDeferring = false // if so, the connection has no parser until the next request is served
  #head: Buffer | undefined // earlier input with parts of the head that the parser is reading
  #nextRefusal: RefusalResponse | undefined // rejects any input after the last complete request
  #isInputBroken = false
  #activeAt = performance.now() // start of the idle time
  #accepted = 0 // output bytes that the system had taken at the latest `isStalledFor`
  #acceptedAt = performance.now()

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.socket = socket
    this.batch = owner.batch
    this.#owner = owner
    socket.on('error', () => socket.destroy()) // Node handles errors only while it has a parser
    socket.once('close', () => this.#setBuffered(0))
    socket.destroySoon = () => this.close() // Node calls this after the last response
  }

  get state(): ConnectionState {
    return this.#state
  }

  get isFree(): boolean {
    return this.#state === 'waiting'
  }

  /** Makes Node's new parser stop at each request that cannot be served immediately. */
  watchParser(): void {
    const { socket } = this
    const parser = parserOf(socket)
    const { onIncoming, [onExecute]: executed } = parser
    this.#isDeferring = false
    parser[onMessageBegin] = () => {
      this.#head = nothing
    }
    parser[onExecute] = (result) => {
      executed(result)
      if (this.#head && typeof result === 'number') this.#keepHead(parser.getCurrentBuffer())
    }
    // Not `socket.on`: Node has replaced it with a function that would stop the parser from reading.
    if (!parser._consumed) EventEmitter.prototype.on.call(socket, 'data', this.#keepHead)
    parser.onIncoming = (request, shouldKeepAlive) => {
      const head = this.#takeHead()
      // The parser also stops at any request after rejected input, and at upgrades: Node reports no errors during one.
      if (this.isFree && !request.upgrade && !this.#isInputBroken)
        return onIncoming(request, shouldKeepAlive && !asksToClose(request))
      this.#head = Buffer.concat([head, parser.getCurrentBuffer()])
      socket.pause() // without a parser, a socket would read on
      // Node would resume the socket to read an earlier request's body, but further input must wait.
      socket.resume = () => socket
      request.upgrade = true
      return upgrade
    }
  }

  /** Keeps input with part of an unfinished head. The parser's own copy would leave out some white space. */
  readonly #keepHead = (chunk: Buffer): void => {
    if (this.#head === undefined) return
    this.#head = Buffer.concat([this.#head, chunk])
    this.#setBuffered(this.#head.length)
    if (this.bufferedBytes > maxHead) this.giveUp()
  }

  #takeHead(): Buffer {
    const head = this.#head ?? nothing
    this.#head = undefined
    this.#setBuffered(0)
    return head
  }

  /** Begins to serve a request. The parser passes on only those that can be served. */
  accept(response: ServerResponse): void {
    this.#state = 'serving'
    this.#response = response
    this.hasHadRequest = true
    response.on('close', this.#sent)
  }

  readonly #sent = () => {
    const response = this.#response
    if (response?.writableFinished !== true) return // the client has disconnected
    // `close` also sends the rejection of broken input. Node itself wouldn't, once the client has closed its side.
    if (this.#isInputBroken || !response.shouldKeepAlive) this.close()
    else if (this.#state !== 'closing') this.#state = 'waiting'
    this.#release()
    if (this.isFree && this.#isDeferring) this.batch.handle(() => this.#resume())
  }

  /** Drops the request and response, which take several times the memory of a connection. */
  #release(): void {
    const isSent = this.#state === 'closing' || this.#state === 'waiting'
    if (isSent && this.#response?.req.complete) this.#response = undefined
  }

  /** Begins the response to the current request. Returns `false` if the listener has rejected the request. */
  beginResponse(): boolean {
    const response = this.#response
    if (response === undefined || this.#state !== 'serving') return false
    this.#state = 'responding'
    this.markActive()
    if (this.#owner.isStopping) response.shouldKeepAlive = false
    if (!response.req.complete) response.req.once('end', () => this.#release())
    return true
  }

  /** Restarts the idle timer: the client may be about to send a request. */
  markActive(): void {
    this.#activeAt = performance.now()
  }

  get isRequestBroken(): boolean {
    return this.#isInputBroken && this.#response?.req.complete === false
  }

  /** Rejects the request in progress unless its response has begun, and closes the connection. */
  refuseRequest(refusal: RefusalResponse): void {
    const response = this.#response
    if (response === undefined || !this.beginResponse()) return
    this.#state = 'refusing'
    response.shouldKeepAlive = false
    response.writeHead(refusal.status, closingHeaders(refusal))
    this.batch.end(response, refusal.body)
  }

  /** Rejects malformed or late input (`chunk`) after the response to an earlier, complete request. */
  refuseInput(refusal: RefusalResponse, chunk = nothing): void {
    const isInBody = this.#response?.req.complete === false
    this.#isInputBroken = true
    const input = Buffer.concat([this.#takeHead(), chunk])
    if (isInBody) {
      // The application's own rejection comes first in the batch, and takes precedence.
      this.batch.handle(() => this.refuseRequest(refusal))
    } else {
      const isHead = this.isFree && /^\s*HEAD /.test(input.toString('latin1', 0, 16))
      this.#nextRefusal ??= isHead ? { ...refusal, body: '' } : refusal
    }
    if (this.isFree) this.close()
  }

  /** Ends the input after a request that has `Connection: close` in its head or in a trailer. */
  endInput(): void {
    if (this.isFree) this.close()
    else if (this.#response !== undefined) this.#response.shouldKeepAlive = false
  }

  /** Defers a request at which the parser has stopped, until it can be served. @param rest bytes after its head. */
  defer(request: IncomingMessage, rest: Buffer): void {
    const { socket } = this
    this.#isDeferring = true
    socket.off('data', this.#keepHead)
    if (this.#state === 'closing') {
      this.#discardInput()
      return
    }
    const input = this.#takeHead()
    const head = headIn(input.subarray(0, input.length - rest.length), request)
    this.#setBuffered(head.length + rest.length)
    if (socket.destroyed) return // closed by `#setBuffered`, because it buffers too much
    // Puts buffered bytes back into the socket, to be read before the end of the input.
    socket.unshift(Buffer.concat([head, rest]))
    if (this.isFree) this.batch.handle(() => this.#resume())
  }

  #resume(): void {
    const { socket } = this
    this.#setBuffered(0)
    if (!socket.writable || this.#state === 'closing') return
    socket.resume = Socket.prototype.resume
    this.#owner.parse(socket)
  }

  #setBuffered(bytes: number): void {
    const before = this.bufferedBytes
    this.bufferedBytes = bytes
    if (bytes !== before) this.#owner.buffered.changed(this, before)
  }

  giveUp(): void {
    this.#state = 'closing'
    this.#takeHead()
    // Discards the buffered input. Since Node.js 26, each `read` returns only one chunk of it.
    while (this.socket.readableLength > 0 && this.socket.read() !== null);
    this.socket.destroy()
  }

  /** Closes the connection in stages: ends the output at once, then discards input for a while. */
  close(): void {
    const { socket } = this
    if (this.#state === 'closing') return
    this.#state = 'closing'
    if (!socket.writable) {
      socket.destroy()
      return
    }
    // No rejection may follow a response with `Connection: close`.
    const refusal = this.#response?.shouldKeepAlive === false ? undefined : this.#nextRefusal
    if (refusal === undefined) socket.end()
    else socket.end(refusalText(refusal))
    // The parser still reads the rest of a body, because the application may be counting its bytes.
    const isInBody = this.#response?.req.complete === false && !this.#isInputBroken
    if (!isInBody) this.#discardInput()
    const end = isInBody ? performance.now() + this.#owner.requestTimeout : 0
    let { bytesRead } = socket
    const timer = setInterval(() => {
      // Many clients read no response until they've sent the body, so they get as much time for it as usual.
      if (socket.bytesRead === bytesRead || performance.now() >= end) socket.destroy()
      ;({ bytesRead } = socket)
    }, lingerTime)
    socket.once('close', () => clearInterval(timer))
  }

  #discardInput(): void {
    const { socket } = this
    this.#takeHead()
    socket.removeAllListeners('data')
    socket.resume = Socket.prototype.resume
    socket.push('') // ends the parser's unfinished read, which would block others
    socket.on('data', () => undefined).resume()
  }

  /** True if the connection has been idle for `time` ms. Empty lines (RFC 9112 §2.2) don't interrupt this time. */
  isIdleFor(now: number, time: number): boolean {
    const { socket } = this
    if (now - this.#activeAt < time || !this.isFree || socket.writableLength > 0) return false
    if (this.#response?.req.complete === false) return false
    if (this.hasHadRequest) return !this.#isDeferring && !this.#head
    return this.#owner.isStopping && socket.bytesRead === 0
  }

  /** True if output has made no progress for `time` ms. Must be called regularly. */
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
