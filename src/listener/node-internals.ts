/**
 * Undocumented parts of Node's HTTP server that the listener uses or replaces. Node.js 20 to 26 has them all. @module
 */

import { createServer, type IncomingMessage, type Server } from 'node:http'
import { Socket } from 'node:net'

/** Value that `onIncoming` returns to make the parser stop after the head, as for an upgrade to another protocol. */
export const upgrade = 2

/** Node's HTTP parser of a connection. */
export interface Parser {
  /** Called by the parser when the head of a request is complete. */
  onIncoming(request: IncomingMessage & { upgrade: boolean }, shouldKeepAlive: boolean): number
  /** @returns the number of bytes that have been parsed, or an error. */
  execute(bytes: Buffer): number | Error
}

const head = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

export function parserOf(socket: Socket): Parser {
  return (socket as Socket & { parser: Parser }).parser // not in Node's types, but in Node.js since 0.x
}

/** Node's list of parsers by state. Node's own timeouts use this list. */
interface ConnectionsList {
  /** Returns the parsers that have read a part of a request. Empty lines before a request do not count. */
  active(): Parser[]
}

/**
 * Returns the parsers that are reading a request, or that wait for their first request. @param server must be
 * listening.
 */
export function readingParsers(server: Server): ReadonlySet<Parser> {
  return new Set(connectionsOf(server)?.active())
}

function connectionsOf(server: Server): ConnectionsList | undefined {
  const symbol = Object.getOwnPropertySymbols(server).find(
    ({ description }) => description === 'http.server.connections',
  )
  if (symbol === undefined) return undefined
  return (server as unknown as Record<symbol, ConnectionsList>)[symbol] // not in Node's types, but in Node.js since 18
}

/** Returns an error message that names the internals which this version of Node.js lacks; `undefined` if it has all. */
export function nodeProblem(): string | undefined {
  const socket = new Socket()
  const server = createServer()
  server.emit('listening') // from this event on, the server tracks its connections
  server.emit('connection', socket)
  const parser: Partial<Parser> | undefined = parserOf(socket)
  let hasHead = false
  let read: unknown
  if (typeof parser?.onIncoming === 'function') {
    parser.onIncoming = () => {
      hasHead = true
      return upgrade
    }
    read = parser.execute?.(Buffer.from(`${head}more`))
  }
  const present = {
    'parser.onIncoming': hasHead && read === head.length,
    'server[kConnections].active': typeof connectionsOf(server)?.active === 'function',
    'socket.destroySoon': typeof socket.destroySoon === 'function',
  }
  socket.destroy()
  server.close(() => undefined)
  const lacking = Object.entries(present).flatMap(([name, isPresent]) => (isPresent ? [] : [name]))
  if (lacking.length === 0) return undefined
  return `Node.js ${process.version} is not supported: it lacks ${lacking.join(', ')}`
}
