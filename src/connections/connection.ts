/** One connection: all that is known of it, in one place. @module */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

export class Connection {
  readonly socket: Socket
  /** The response to its latest request, sent or not. */
  latest: ServerResponse | undefined
  /** Memory for what came after the latest request while that was in progress, in bytes. */
  heldBytes = 0
  /** Whether the answer to its latest request is the last one, as the service is about to stop. */
  isEnding = false
  /** Since when it may have been idle: the start of its latest answer, or the end of a long one. */
  answeredAt = performance.now()
  /** How many bytes the system has taken of what is sent, and since when no more. */
  #taken = 0
  #takenAt = performance.now()

  constructor(socket: Socket) {
    this.socket = socket
  }

  /** Whether the answer to a request has not been sent yet. */
  get isBusy(): boolean {
    return this.latest !== undefined && !this.latest.writableFinished
  }

  /** Whether every request that came has its whole answer, and nothing of another is there. */
  get isIdle(): boolean {
    const { latest, heldBytes, socket } = this
    if (heldBytes > 0 || this.isBusy || socket.writableLength > 0) return false
    return latest === undefined ? socket.bytesRead === 0 : latest.req.complete
  }

  /**
   * Whether there is something to send, and the client has taken none of it for a time. To be asked
   * again and again.
   * @param now of `performance.now()`.
   * @param timeout in milliseconds.
   */
  isStalled(now: number, timeout: number): boolean {
    const left = this.socket.writableLength
    const taken = this.socket.bytesWritten - left
    if (left === 0 || taken !== this.#taken) {
      this.#taken = taken
      this.#takenAt = now
    }
    return now - this.#takenAt >= timeout
  }

  /** To be called before a head is written: decides whether the connection goes on after that answer. */
  settle(response: ServerResponse): void {
    this.answeredAt = performance.now()
    if (this.isEnding && this.heldBytes === 0) response.shouldKeepAlive = false
    if (isBodyComing(response.req)) closeAfterBody(response.req)
  }
}

/** Whether a request has a body that has not come to its end yet (RFC 9112 §6). */
function isBodyComing({ complete, headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  const hasBody = headers['transfer-encoding'] !== undefined || (length ?? '0') !== '0'
  return hasBody && !complete
}

/**
 * Has Node, where it would close the connection with the answer, close it after the body that the
 * client still sends, which is read and dropped. Closed before, it would be reset under the client, and
 * the answer lost.
 */
function closeAfterBody(request: IncomingMessage): void {
  const { socket } = request
  socket.destroySoon = () => {
    const close = () => Socket.prototype.destroySoon.call(socket)
    if (request.complete) close()
    else request.once('end', close)
  }
}
