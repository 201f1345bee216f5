/** HTTP connections over bare sockets, so that thousands of connections need only one CPU core. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { answerReader, type RawAnswer } from '../../test/support/socket.js'
import { addressed, type Request, requests, type Server } from './requests.js'

export interface Connection {
  ask: (request: Request) => Promise<RawAnswer>
  close: () => void
}

/** Opens a connection that sends requests with the server's prefix and token, one after the other. */
export async function openConnection(server: Server): Promise<Connection> {
  const socket = connect({ port: server.port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  const chunks: AsyncIterator<Buffer> = socket[Symbol.asyncIterator]()
  return {
    close: () => socket.destroy(),
    async ask(request) {
      const reader = answerReader(() => request.method === 'HEAD')
      socket.write(rawRequest(addressed(server, request)))
      for (;;) {
        const { value, done } = await chunks.next()
        if (done) throw new Error('the server closed the connection')
        reader.take(value)
        const [answer] = reader.answers
        if (answer !== undefined) return answer
      }
    },
  }
}

function rawRequest({ method, path, body = '', headers }: Request) {
  const all = { ...headers, ...(body !== '' && { 'Content-Length': Buffer.byteLength(body) }) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

const parallelConnections = 48

/** Calls `act` so many times, on several connections. */
export async function inParallel(
  server: Server,
  count: number,
  act: (ask: Connection['ask'], place: number) => Promise<unknown>,
) {
  let next = 0
  const work = async () => {
    const { ask, close } = await openConnection(server)
    while (next < count) {
      next += 1
      await act(ask, next - 1)
    }
    close()
  }
  await Promise.all(Array.from({ length: parallelConnections }, work))
}

/** Returns the ids of the new items. */
export async function createItems(server: Server, count: number) {
  const ids: string[] = []
  await inParallel(server, count, async (ask) => ids.push(await createItem(ask)))
  return ids
}

/** @param more bytes by which the item is longer than usual */
export async function createItem(ask: Connection['ask'], more = 0) {
  const { status, body } = await ask(requests.create(more))
  if (status !== 201) throw new Error(`a create got status ${status}`)
  return /"id":\s*"([^"]+)"/.exec(body)?.[1] ?? ''
}
