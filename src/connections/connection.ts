/** One connection: all that is known of it, in one place. @module */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** What is used of a socket; `clientError` gives one that may be any `Duplex`. */
type Socket = Duplex & { readonly bytesRead?: number; readonly bytesWritten?: number }

export class Connection {
  readonly socket: Socket
  /** The response to its latest request, sent or not. */
  latest: ServerResponse | undefined
  /** How many of its requests wait for the answer to an earlier one. */
  waiting = 0
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

  /** Whether every request that came has its whole answer. */
  get isAnswered(): boolean {
    const { latest } = this
    return latest === undefined || (latest.req.complete && latest.writableFinished)
  }

  /** Whether nothing is under way, and no part of a first request has come either. */
  get isIdle(): boolean {
    const { isAnswered, latest, socket } = this
    return isAnswered && socket.writableLength === 0 && (latest !== undefined || !socket.bytesRead)
  }

  /**
   * Whether there is something to send, and the client has taken none of it for a time. To be asked
   * again and again.
   * @param now of `performance.now()`.
   * @param timeout in milliseconds.
   */
  isStalled(now: number, timeout: number): boolean {
    const left = this.socket.writableLength
    const taken = (this.socket.bytesWritten ?? 0) - left
    if (left === 0 || taken !== this.#taken) {
      this.#taken = taken
      this.#takenAt = now
    }
    return now - this.#takenAt >= timeout
  }

  /** To be called before a head is written: decides whether the connection goes on after that answer. */
  settle(response: ServerResponse): void {
    this.answeredAt = performance.now()
    if (this.isEnding && this.latest === response) response.shouldKeepAlive = false
    if (!response.shouldKeepAlive && isBodyComing(response.req)) closeAfterBody(response)
  }
}

/** Whether a request has a body that has not come to its end yet (RFC 9112 §6). */
function isBodyComing({ complete, headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  const hasBody = headers['transfer-encoding'] !== undefined || (length ?? '0') !== '0'
  return hasBody && !complete
}

/**
 * Closes the connection after the body that the client still sends, which is read and dropped. Closed
 * with the answer, it would be reset under the client, and the answer lost.
 */
function closeAfterBody(response: ServerResponse): void {
  response.shouldKeepAlive = true
  const { req: request } = response
  response.once('finish', () => {
    const close = () => request.socket.destroySoon()
    if (request.complete) close()
    else request.once('end', close)
  })
}
