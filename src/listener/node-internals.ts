/** Undocumented parts of Node's HTTP server that exist in all versions from Node.js 20 to 26. @module */

import { createServer, type IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** Return value of `onIncoming` that makes the parser stop after the request head, as for an upgrade. */
export const upgrade = 2

/** Property of a parser: function that is called at the first byte of each request. */
export const onMessageBegin = 0
/** Property of a parser: function that is called after each chunk that the parser reads from the system itself. */
export const onExecute = 5

export interface Parser {
  onIncoming(request: IncomingMessage & { upgrade: boolean }, shouldKeepAlive: boolean): number
  execute(bytes: Buffer): number | Error
  /** Returns a copy of the chunk that is being parsed. */
  getCurrentBuffer(): Buffer
  [onMessageBegin]: (() => void) | null
  [onExecute](result: number | Error): void
  /** Whether the parser reads from the system itself, so that the socket emits no data. */
  readonly _consumed: boolean
}

const head = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

export function parserOf(socket: Socket): Parser {
  return (socket as Socket & { parser: Parser }).parser // not in Node's types, but in Node.js since 0.x
}

/** Returns an error message if this version of Node.js lacks required internals. */
export function nodeProblem(): string | undefined {
  const socket = new Socket()
  const server = createServer()
  server.emit('listening') // the server tracks its connections from this event on
  server.emit('connection', socket)
  const parser: Partial<Parser> | undefined = parserOf(socket)
  let hasBegun = false
  let hasHead = false
  let seen: Buffer | undefined
  let read: unknown
  if (typeof parser?.onIncoming === 'function') {
    parser[onMessageBegin] = () => {
      hasBegun = true
    }
    parser.onIncoming = () => {
      hasHead = true
      seen = parser.getCurrentBuffer?.()
      return upgrade
    }
    read = parser.execute?.(Buffer.from(`${head}more`))
  }
  const present = {
    'parser.onIncoming': hasHead && read === head.length,
    'parser[kOnMessageBegin]': hasBegun,
    'parser[kOnExecute]': typeof parser?.[onExecute] === 'function',
    'parser.getCurrentBuffer': seen?.toString() === `${head}more`,
    'socket.destroySoon': typeof socket.destroySoon === 'function',
  }
  socket.destroy()
  server.close(() => undefined)
  const lacking = Object.entries(present).flatMap(([name, isPresent]) => (isPresent ? [] : [name]))
  if (lacking.length === 0) return undefined
  return `Node.js ${process.version} is not supported: it lacks ${lacking.join(', ')}`
}
