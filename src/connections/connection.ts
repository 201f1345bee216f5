/** One connection: everything known about it, in one place. @module */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

export class Connection {
  readonly socket: Socket
  /** The response to its latest request, sent or not. */
  latest: ServerResponse | undefined
  /** Memory for what arrived while the latest request was in progress, in bytes. */
  heldBytes = 0
  /** Whether the response to its latest request is the last one, because the service is stopping. */
  isEnding = false
  /** Since when it may have been idle: the start of its latest response, or the end of a long one. */
  answeredAt = performance.now()
  /**
   * Bytes received when its latest request was answered: any more are the start of another one. A start
   * that came along with that request goes unnoticed.
   */
  #received = 0
  /** How many of the bytes sent the system has accepted, and since when that number is unchanged. */
  #accepted = 0
  #acceptedAt = performance.now()

  constructor(socket: Socket) {
    this.socket = socket
  }

  /** Whether a response has not been sent completely yet. */
  get isBusy(): boolean {
    return this.latest !== undefined && !this.latest.writableFinished
  }

  /** Whether its latest response is the last one, because it closes the connection. */
  get isClosing(): boolean {
    return this.latest?.shouldKeepAlive === false
  }

  /** Whether every request has been answered completely, and no part of another has arrived. */
  get isIdle(): boolean {
    const { latest, heldBytes, socket } = this
    if (heldBytes > 0 || this.isBusy || socket.writableLength > 0) return false
    return latest?.req.complete !== false && socket.bytesRead === this.#received
  }

  /**
   * Whether it has been idle for some time after a response.
   * @param now the value of `performance.now()`.
   * @param timeout in milliseconds.
   */
  isUnused(now: number, timeout: number): boolean {
    return this.latest !== undefined && now - this.answeredAt >= timeout && this.isIdle
  }

  /**
   * Whether there is something to send, and the client has accepted none of it for some time. Must be
   * called regularly.
   * @param now the value of `performance.now()`.
   * @param timeout in milliseconds.
   */
  isStalled(now: number, timeout: number): boolean {
    const unsent = this.socket.writableLength
    const accepted = this.socket.bytesWritten - unsent
    if (unsent === 0 || accepted !== this.#accepted) {
      this.#accepted = accepted
      this.#acceptedAt = now
    }
    return now - this.#acceptedAt >= timeout
  }

  /** Must be called before a head is written: decides whether the connection stays open afterwards. */
  settle(response: ServerResponse): void {
    this.answeredAt = performance.now()
    if (this.isEnding && this.heldBytes === 0) response.shouldKeepAlive = false
    if (!isBodyIncomplete(response.req)) {
      this.#received = this.socket.bytesRead
      return
    }
    response.req.once('end', () => {
      this.#received = this.socket.bytesRead
    })
    closeAfterBody(response.req)
  }
}

/** Whether a request has a body that has not been received completely (RFC 9112 §6). */
function isBodyIncomplete({ complete, headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  const hasBody = headers['transfer-encoding'] !== undefined || (length ?? '0') !== '0'
  return hasBody && !complete
}

/**
 * Delays the closing of a connection until the body that the client is still sending has been read
 * and discarded. Closed along with the response, it would be reset and the response lost.
 */
function closeAfterBody(request: IncomingMessage): void {
  const { socket } = request
  socket.destroySoon = () => {
    const close = () => Socket.prototype.destroySoon.call(socket)
    if (request.complete) close()
    else request.once('end', close)
  }
}
