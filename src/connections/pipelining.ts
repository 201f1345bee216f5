/**
 * Pipelined requests (RFC 9112 §9.3.2): those that a client sends before the earlier ones are answered.
 *
 * Node's parser makes a request and a response object of each as soon as it has come, 1,600 of them
 * from one read of 64 KB. Here a connection has one at a time, and the rest stays what it is: bytes.
 * The parser is made to stop at a request that comes too early, as it does for an upgrade to another
 * protocol; that hands over the bytes after it. Once the answer has been sent, the connection starts
 * anew with all that was held. Requests so take effect, and are answered, in the order sent, and the
 * connections take turns.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** What Node keeps in `socket.parser`, as far as it is used; not in the types, since Node.js 0.x. */
interface Parser {
  onIncoming(request: IncomingMessage & { upgrade: boolean }, shouldKeepAlive: boolean): number
}

/** Tells Node's parser that another protocol begins after the head. */
const upgrade = 2

/**
 * Has the parser of a connection stop at requests that come too early, and at those with `Upgrade`, as
 * it would for another protocol: there is none here, and of such a request, Node tells no errors. What
 * it stops at comes with the server's `upgrade` event, and `connect`, if that is its method.
 * @param isBusy whether another request is in progress.
 */
export function stopAtPipelined(socket: Socket, isBusy: () => boolean): void {
  const { parser } = socket as Socket & { parser: Parser } // of every socket of an HTTP server
  const { onIncoming } = parser
  parser.onIncoming = (request, shouldKeepAlive) => {
    if (isBusy() || request.upgrade) {
      socket.pause() // stops reading, which it would not without the parser
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

/** The head of a request as it was sent, but for white space and `Upgrade`. */
export function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (/^upgrade$/i.test(rawHeaders[at] ?? '')) continue
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
