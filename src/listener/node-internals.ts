/** Undocumented parts of Node's HTTP server that exist in all versions from Node.js 20 to 26. @module */

import { createServer, type IncomingMessage, type Server } from 'node:http'
import { Socket } from 'node:net'

/** Return value of `onIncoming` that makes the parser stop after the request head, as for an upgrade. */
export const upgrade = 2

export interface Parser {
  onIncoming(request: IncomingMessage & { upgrade: boolean }, shouldKeepAlive: boolean): number
  execute(bytes: Buffer): number | Error
}

const head = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

export function parserOf(socket: Socket): Parser {
  return (socket as Socket & { parser: Parser }).parser // not in Node's types, but in Node.js since 0.x
}

/** Returns the parsers that are reading a request or waiting for their first one. `server` must be listening. */
export function readingParsers(server: Server): ReadonlySet<Parser> {
  return new Set(connectionsOf(server)?.active())
}

/** Returns Node's connection list. `active` returns the parsers that have read more of a request than empty lines. */
function connectionsOf(server: Server) {
  const symbol = Object.getOwnPropertySymbols(server).find(
    ({ description }) => description === 'http.server.connections',
  )
  if (symbol === undefined) return undefined
  return (server as unknown as Record<symbol, { active(): Parser[] }>)[symbol] // not in Node's types, but in Node.js since 18
}

/** Returns an error message if this version of Node.js lacks required internals. */
export function nodeProblem(): string | undefined {
  const socket = new Socket()
  const server = createServer()
  server.emit('listening') // the server tracks its connections from this event on
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
