/** Undocumented parts of Node's HTTP server that exist in all versions from Node.js 20 to 26. @module */

import { createServer, type IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { timersProblem } from '../memory/timers.js'

/** Result of `onIncoming` that stops the parser after the request head, as for an upgrade. */
export const upgrade = 2

/** Property of a parser: called at the first byte of each request. */
export const onMessageBegin = 0
/** Property of a parser: called after each chunk that it reads from the system itself. */
export const onExecute = 5

export interface Parser {
  onIncoming(request: IncomingMessage & { upgrade: boolean }, shouldKeepAlive: boolean): number
  execute(bytes: Buffer): number | Error
  /** Returns the input that the parser is reading. */
  getCurrentBuffer(): Buffer
  [onMessageBegin]: (() => unknown) | null
  [onExecute](result: number | Error): void
  readonly _consumed: boolean // reads from the system itself, so the socket emits no data
}

export function parserOf(socket: Socket): Parser {
  return (socket as Socket & { parser: Parser }).parser // not in Node's types, but in Node.js since 0.x
}

/** Returns the head at the end of the input. It renames `Upgrade`, which would stop the parser again. */
export function headIn(input: Buffer, request: IncomingMessage): Buffer {
  const { method, url, httpVersion, rawHeaders } = request
  const text = input.toString('latin1')
  let start = text.length
  for (let lines = rawHeaders.length / 2 + 1; lines > 0; lines -= 1)
    start = text.lastIndexOf('\n', start - 2) + 1
  const lines = text.slice(start).replaceAll(/^upgrade(?=:)/gim, 'X-Upgrade')
  return Buffer.from(`${method} ${url} HTTP/${httpVersion}\r\n${lines}`, 'latin1')
}

/** Returns an error message if this version of Node.js lacks required internals, or fake timers were on. */
export function nodeProblem(): string | undefined {
  const socket = new Socket()
  const server = createServer()
  server.emit('listening') // from then on, the server tracks its connections
  server.emit('connection', socket)
  const parser: Partial<Parser> | undefined = parserOf(socket)
  const { onIncoming, execute, getCurrentBuffer, [onExecute]: executed } = parser ?? {}
  const functions = [onIncoming, execute, getCurrentBuffer, executed, socket.destroySoon]
  const isSupported = functions.every((each) => typeof each === 'function')
  socket.destroy()
  server.close(() => undefined)
  if (isSupported) return timersProblem
  return `Node.js ${process.version} is not supported: its HTTP server has changed`
}
