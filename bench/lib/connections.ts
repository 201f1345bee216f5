/** HTTP connections over bare sockets, so that thousands of connections need only one CPU core. */

import { connect } from 'node:net'
import { type Headers, type Request, rawRequest, requests } from './client.js'

type Answer = { status: number; tag: string; body: string }

export interface Connection {
  ask: (request: Request) => Promise<Answer>
  close: () => void
}

export const openedAtOnce = 100 // many more could overflow the listening socket's queue

export async function openConnections(port: number, count: number) {
  const connections: Connection[] = []
  while (connections.length < count) {
    const length = Math.min(openedAtOnce, count - connections.length)
    connections.push(...(await Promise.all(Array.from({ length }, () => openConnection(port)))))
  }
  return connections
}

export function openConnection(port: number): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
    let received = ''
    let isBodiless = false
    let answered: (answer: Answer) => void = () => {}
    let failed = reject

    socket.on('data', (chunk) => {
      received += chunk
      const end = received.indexOf('\r\n\r\n') + 4
      if (end < 4) return
      const head = received.slice(0, end)
      const status = Number(head.slice('HTTP/1.1 '.length, 12))
      const length = Number(/^Content-Length: (\d+)/im.exec(head)?.[1] ?? 0)
      if (received.length < end + (isBodiless || status === 304 ? 0 : length)) return
      const [, tag = ''] = /^ETag: (\S+)/im.exec(head) ?? []
      answered({ status, tag, body: received.slice(end) })
    })
    socket.on('error', (error) => failed(error))
    socket.on('close', () => failed(new Error('the server closed the connection')))
    socket.on('connect', () => resolve({ ask, close: () => socket.destroy() }))

    function ask(request: Request): Promise<Answer> {
      return new Promise((resolve, reject) => {
        answered = resolve
        failed = reject
        isBodiless = request.method === 'HEAD'
        received = ''
        socket.write(rawRequest(request))
      })
    }
  })
}

const parallelConnections = 48

export interface Server {
  port: number
  headers: Headers
}

/** Calls `act` so many times, or until the time is over, on several connections. Requests get the server's headers. */
export async function inParallel(
  { port, headers }: Server,
  count: number,
  act: (ask: Connection['ask'], place: number) => Promise<unknown>,
  seconds = Number.POSITIVE_INFINITY,
) {
  const deadline = performance.now() + seconds * 1000
  const connections = await openConnections(port, parallelConnections)
  let next = 0
  const actOver = async ({ ask, close }: Connection) => {
    while (next < count && performance.now() < deadline) {
      next += 1
      await act((request) => ask({ ...request, headers }), next - 1)
    }
    close()
  }
  await Promise.all(connections.map(actOver))
}

/** Returns the ids of the new items. There are fewer than `count` if the time is over. */
export async function createItems(server: Server, count: number, seconds?: number) {
  const ids: string[] = []
  await inParallel(server, count, async (ask) => ids.push(await createItem(ask)), seconds)
  return ids
}

/** @param more bytes by which the item is longer than usual */
export async function createItem(ask: Connection['ask'], more = 0) {
  const { status, body } = await ask(requests.create(more))
  if (status !== 201) throw new Error(`a create got status ${status}`)
  return /"id":\s*"([0-9a-f-]{36})"/.exec(body)?.[1] ?? ''
}
