/**
 * Pipelined requests (RFC 9112 §9.3.2): those that a client sends before the earlier ones are answered.
 *
 * Node's parser creates a request and a response object for each as soon as it arrives, 1,600 of them
 * for one read of 64 KB. Here a connection has one at a time, and the rest stays what it is: bytes.
 * The parser is made to stop at a pipelined request as it would for an upgrade to another protocol,
 * which hands over the bytes after it. Once the response has been sent, the connection starts anew with
 * everything that was held. So requests take effect, and are answered, in the order sent, and the
 * connections take turns.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** The part of `socket.parser` used here; not in the types, but in Node.js since 0.x. */
interface Parser {
  onIncoming(request: IncomingMessage & { upgrade: boolean }, shouldKeepAlive: boolean): number
}

/** Tells Node's parser that another protocol begins after the head. */
const upgrade = 2

/**
 * Makes the parser of a connection stop at pipelined requests, and at those with `Upgrade`, as it would
 * for another protocol: there is none here, and Node reports no errors in such a request. The server
 * emits what it stops at as `upgrade`, or as `connect` if that is the method.
 * @param isBusy whether another request is in progress.
 */
export function stopAtPipelined(socket: Socket, isBusy: () => boolean): void {
  const { parser } = socket as Socket & { parser: Parser } // set on every socket of an HTTP server
  const { onIncoming } = parser
  parser.onIncoming = (request, shouldKeepAlive) => {
    if (isBusy() || request.upgrade) {
      socket.pause() // without the parser, reading would go on
      // Node resumes it for the body of the request before, and what came then would be lost.
      socket.resume = () => socket
      request.upgrade = true
      return upgrade
    }
    return onIncoming(request, shouldKeepAlive)
  }
}

/** Lets a connection be read again on which the parser stopped. */
export function allowReading(socket: Socket): void {
  socket.resume = Socket.prototype.resume
}

/** The head of a request as it was sent, except for white space and `Upgrade`. */
export function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (/^upgrade$/i.test(rawHeaders[at] ?? '')) continue
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
