/**
 * One connection and the request on it: a state machine over Node's own objects.
 *
 *     waiting ──request──▶ serving ──begin──▶ responding ──sent──▶ waiting, or ending ──body read──▶ closing
 *        │                    └──body malformed or late──▶ refusing ──sent──▶ closing
 *        └──request malformed or late──▶ closing
 *
 * A connection handles one request at a time. Of requests that a client pipelines behind it (RFC 9112 §9.3.2),
 * a few wait in a queue as Node's objects. Node's parser would create such objects for each as soon as it arrives,
 * 1,600 of them for one read of 64 KB. Here it is made to stop at the next one, or at one with a large body, as it
 * would for an upgrade to another protocol, which hands over the bytes after it. They are held as bytes: once the
 * queue is empty, the connection starts over with them. So requests take effect, and are answered, in the order
 * sent, and the connections take turns.
 *
 * A connection is closed in stages (RFC 9112 §9.6): if it were closed with input unread, it would be reset,
 * and the system would drop the part of the last response that it has not delivered yet.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { type Parser, parserOf, upgrade } from './node-internals.js'
import { type HeldBytes, type Holder, RequestQueue } from './queue.js'
import { closingHeaders, type RefusalResponse, refusalText } from './refusal.js'
import type { Turn } from './turn.js'

type ConnectionState =
  /** Waiting for the first request, or the next one. */
  | 'waiting'
  /** The application has a request and has not begun the response. */
  | 'serving'
  /** The application's response has begun. */
  | 'responding'
  /** The listener responds instead of the application, because the body is malformed or late. */
  | 'refusing'
  /** The last response has been sent. The rest of its request is being read. */
  | 'ending'
  /** The connection is being closed. Whatever still arrives is read and discarded. */
  | 'closing'

/** What connections need from the listener that owns them. */
export interface ConnectionOwner {
  /** Whether the listener is stopping: a connection is then closed by the response to the last request received. */
  readonly isStopping: boolean
  readonly turn: Turn
  /** What waits on all connections; if that is a crowd, requests should only wait as bytes. */
  readonly held: HeldBytes
  /** The connection can go on with what waits; the owner calls `resume` when its turn comes. */
  readyToResume(connection: Connection): void
  /** It is the turn of a request that has waited. */
  serveNext(connection: Connection, response: ServerResponse): void
}

/** How long input is discarded after the last response, in milliseconds. */
const lingerTime = 2_000

export class Connection implements Holder {
  readonly socket: Socket
  /** Handles requests and sends responses along with those of other connections. */
  readonly turn: Turn
  heldBytes = 0
  /** Whether it has had a request. Until the first one, Node enforces the timeout, and responds. */
  hasHadRequest = false
  readonly #owner: ConnectionOwner
  #state: ConnectionState = 'waiting'
  /** The response to the latest request that has been served, until it has been sent and its request has arrived. */
  #response: ServerResponse | undefined
  /** The requests that wait for their turn. */
  readonly #queue = new RequestQueue((bytes) => this.#setHeld(this.heldBytes + bytes))
  /** The refusal of the input after the last complete request; sent after all responses. */
  #nextRefusal: RefusalResponse | undefined
  /** Whether input has been refused: the parser has given up, or not all of a request came in time. */
  #isInputBroken = false
  /** When the client last got a response, or else connected: the value of `performance.now()`. */
  #activeAt = performance.now()
  /** Bytes received when it first began a response while the listener was stopping. */
  #readWhenStopping: number | undefined
  /** How many bytes the system has accepted for sending, and when that number last changed. */
  #accepted = 0
  #acceptedAt = performance.now()

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.socket = socket
    this.turn = owner.turn
    this.#owner = owner
    socket.on('error', () => socket.destroy()) // Node has its own listener only while it has a parser
    socket.once('close', () => this.#forget())
    socket.destroySoon = () => this.close() // Node calls it after the last response
  }

  get state(): ConnectionState {
    return this.#state
  }

  /** Whether a request that arrives now can be served at once. */
  get isFree(): boolean {
    return this.#queue.length === 0 && this.#state === 'waiting'
  }

  /** Whether the last response has been sent: nothing that arrives now is answered. */
  get #isOver(): boolean {
    return this.#state === 'ending' || this.#state === 'closing'
  }

  /** Makes Node's parser stop at a request that arrives before the one in progress is answered, and cannot be queued. */
  watchParser(): void {
    const { socket } = this
    const parser = parserOf(socket)
    const { onIncoming } = parser
    parser.onIncoming = (request, shouldKeepAlive) => {
      // Upgrades are not supported, and Node would report no errors in a request for one. After a request that
      // was late, the parser goes on, but nothing may follow the refusal.
      const canTake = this.isFree || this.#canQueue(request)
      if (canTake && !request.upgrade && !this.#isInputBroken)
        return onIncoming(request, shouldKeepAlive)
      socket.pause() // without the parser, reading would go on
      // Node resumes it for the body of the earlier request, and whatever then arrived would be lost.
      socket.resume = () => socket
      request.upgrade = true
      return upgrade
    }
  }

  #canQueue(request: IncomingMessage): boolean {
    // A listener that is stopping reads no more than it has, or it would never come to an end.
    const { isStopping, held } = this.#owner
    if (isStopping || held.isCrowded || this.#isOver || this.#state === 'refusing') return false
    // Node would stop reading, and the rest would seem to be late.
    return !this.socket.writableNeedDrain && this.#queue.canTake(request)
  }

  /**
   * A request has arrived. It waits in the queue for its turn if another one is in progress.
   * @returns whether to serve it now. After the last response it must not take effect, since the client would
   * never learn of it (RFC 9112 §9.6).
   */
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
    if (response?.writableFinished !== true) return // the client is gone
    if (this.#state !== 'closing') this.#state = response.shouldKeepAlive ? 'waiting' : 'ending'
    this.#release()
    if (this.heldBytes > 0) this.#owner.readyToResume(this)
    // At once: if the client closed its side a turn later, Node would end the connection without the refusal.
    else if (this.#isInputBroken) this.#end()
  }

  /** An idle connection keeps neither request nor response, which may be several times as large as itself. */
  #release(): void {
    const isSent = this.#isOver || this.#state === 'waiting'
    if (!isSent || this.#response?.req.complete !== true) return
    this.#response = undefined
  }

  /**
   * The application is about to send the head of its response. Decides whether the connection stays open.
   * @returns whether to send it: not if the request has been refused in the meantime.
   */
  beginResponse(): boolean {
    const response = this.#response
    if (response === undefined || this.#state !== 'serving') return false
    this.#state = 'responding'
    this.markActive()
    if (this.#owner.isStopping && this.#isLastResponse()) response.shouldKeepAlive = false
    if (isBodyIncomplete(response.req)) response.req.once('end', () => this.#release())
    return true
  }

  /** Whether all requests are answered that had been received when the listener began to stop, or soon after. */
  #isLastResponse(): boolean {
    const { bytesRead, readableLength } = this.socket // the latter includes what is held
    this.#readWhenStopping ??= bytesRead
    return this.#queue.length === 0 && bytesRead - readableLength >= this.#readWhenStopping
  }

  /** The client may be about to send a request: the time for which it counts as idle starts now. */
  markActive(): void {
    this.#activeAt = performance.now()
  }

  /** Whether the body of the request in progress is malformed or late, so that it is about to be refused. */
  get isRequestBroken(): boolean {
    return this.#isInputBroken && this.#response?.req.complete === false
  }

  /** Refuses the request in progress, whose response has not begun, and closes the connection. */
  refuseRequest(refusal: RefusalResponse): void {
    const response = this.#response
    if (response === undefined || !this.beginResponse()) return
    this.#state = 'refusing'
    response.shouldKeepAlive = false
    response.writeHead(refusal.status, closingHeaders(refusal))
    this.turn.end(response, refusal.body)
  }

  /**
   * Refuses input that is not a valid request, and closes the connection. The refusal follows the response
   * to an earlier, complete request, unless that response is the last one.
   */
  refuseInput(refusal: RefusalResponse): void {
    const response = this.#queue.last ?? this.#response
    const isInBody = response?.req.complete === false
    this.#isInputBroken = true
    this.turn.handleNow(this.#response) // other reasons to refuse the request come first
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

  /**
   * Keeps a request at which the parser stopped until the earlier one is answered.
   * @param rest the bytes after its head.
   */
  hold(request: IncomingMessage, rest: Buffer): void {
    const { socket } = this
    if (this.#isOver) {
      this.#discardInput()
      return
    }
    const head = headOf(request)
    this.#setHeld(this.heldBytes + head.length + rest.buffer.byteLength)
    if (this.#isOver) return // given up for it
    // Back into the socket, so that they stay ahead of the end of its input.
    socket.unshift(rest)
    socket.unshift(head)
    if (this.isFree) this.#owner.readyToResume(this)
  }

  /** Goes on with the next request of the queue, or with the bytes held. @param server gives the connection a new parser. */
  resume(server: NodeJS.EventEmitter): void {
    const { socket } = this
    const canGoOn = socket.writable && !this.#isOver
    const next = canGoOn ? this.#queue.shift() : undefined
    if (!canGoOn) {
      this.#forget()
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

  /** What waits is not going to be served. */
  #forget(): void {
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
    this.#forget()
    // What it holds as bytes: since Node.js 26, `read` returns one piece at a time.
    while (this.socket.readableLength > 0 && this.socket.read() !== null);
    this.socket.destroy()
  }

  /** Closes the connection in stages, once the body that the client may still be sending has been read. */
  close(): void {
    const request = this.#response?.req
    const isReading = request !== undefined && isBodyIncomplete(request) && !this.#isInputBroken
    if (isReading) request.once('end', () => this.#end())
    else this.#end()
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
    // Nothing follows the response that has announced the end.
    const refusal = isLast ? undefined : this.#nextRefusal
    if (refusal === undefined) socket.end()
    else socket.end(refusalText(refusal))
    this.#discardInput()
    const timer = setTimeout(() => socket.destroy(), lingerTime)
    socket.once('close', () => clearTimeout(timer))
  }

  /** From now on, input is read and discarded. */
  #discardInput(): void {
    const { socket } = this
    this.#forget()
    socket.removeAllListeners('data')
    socket.resume = Socket.prototype.resume
    socket.push('') // where Node's parser has stopped, it ends a read that would keep others from starting
    socket.on('data', () => undefined).resume()
  }

  /**
   * Whether all requests have been answered completely for some time, and no part of another one has arrived.
   * @param now the value of `performance.now()`.
   * @param time in milliseconds.
   * @param reading the parsers that are reading a request: empty lines are no part of one (RFC 9112 §2.2). Node counts
   * parsers that have not had a request among them.
   */
  isIdleFor(now: number, time: number, reading: ReadonlySet<Parser>): boolean {
    const { socket } = this
    if (now - this.#activeAt < time || this.#state !== 'waiting') return false
    if (this.heldBytes > 0 || socket.writableLength > 0) return false
    if (this.#response?.req.complete === false) return false
    if (this.hasHadRequest) return !reading.has(parserOf(socket))
    return this.#owner.isStopping && socket.bytesRead === 0
  }

  /**
   * Whether there is something to send, and none of it has been accepted for some time. Call it regularly.
   * @param now the value of `performance.now()`.
   * @param time in milliseconds.
   */
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

/** Whether a request has a body that has not been received completely (RFC 9112 §6). */
function isBodyIncomplete({ complete, headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  const hasBody = headers['transfer-encoding'] !== undefined || (length ?? '0') !== '0'
  return hasBody && !complete
}

/** The head of a request as it was sent, except for white space and `Upgrade`. */
function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (/^upgrade$/i.test(rawHeaders[at] ?? '')) continue
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
