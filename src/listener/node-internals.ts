/** The undocumented parts of Node's HTTP server that connections replace; all of them are in Node.js 20 to 26. @module */

import { createServer, type IncomingMessage, type Server } from 'node:http'
import { Socket } from 'node:net'

/** The value of `onIncoming` that makes the parser stop, as if another protocol began after the head. */
export const upgrade = 2

/** Node's parser of the requests on one connection. */
export interface Parser {
  /** Called when the head of a request is complete. */
  onIncoming(request: IncomingMessage & { upgrade: boolean }, shouldKeepAlive: boolean): number
  /** @returns how many bytes it has read. */
  execute(bytes: Buffer): number | Error
}

const head = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

/** The parser of a socket of an HTTP server. */
export function parserOf(socket: Socket): Parser {
  return (socket as Socket & { parser: Parser }).parser // not in the types, but in Node.js since 0.x
}

/** Parsers by what they are doing, as the server counts them for its own timeouts. */
interface ConnectionsList {
  /** Those that have the first byte of a request and not the last. Empty lines before a request are no part of it. */
  active(): Parser[]
}

/** @param server listens. @returns the parsers that are reading a request, and those that have not had one yet. */
export function readingParsers(server: Server): ReadonlySet<Parser> {
  return new Set(connectionsOf(server)?.active())
}

function connectionsOf(server: Server): ConnectionsList | undefined {
  const symbol = Object.getOwnPropertySymbols(server).find(
    ({ description }) => description === 'http.server.connections',
  )
  if (symbol === undefined) return undefined
  return (server as unknown as Record<symbol, ConnectionsList>)[symbol] // not in the types, but in Node.js since 18
}

/** Returns one line that names what this version of Node.js lacks; `undefined` if it lacks nothing. */
export function nodeProblem(): string | undefined {
  const socket = new Socket()
  const server = createServer()
  server.emit('listening') // from then on, it counts its connections
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
