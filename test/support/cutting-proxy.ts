/** A proxy to a service that cuts connections, before a request arrives or before its answer does. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after } from 'node:test'

/** What becomes of a request: its connection may be cut before it arrives, or before its answer does. */
export type Fate = 'passed' | 'cut before' | 'cut after'

export interface CuttingProxy {
  /** Ends with `/api/v1`. */
  readonly baseUrl: string
  /** How many connections it has cut. */
  readonly cuts: number
}

/**
 * Listens on 127.0.0.1 until the test, or the test file, is over.
 * @param port that the service listens on at the time.
 * @param fate asked for each request. Requests that arrive in several parts count as several.
 */
export async function cuttingProxy(
  port: () => number,
  fate: (request: string) => Fate,
): Promise<CuttingProxy> {
  let cuts = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const service = connect(port(), '127.0.0.1')
    let isLast = false
    const cut = () => {
      cuts += 1
      client.destroy()
    }
    for (const [one, other] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    client.on('data', (data) => {
      const next = fate(data.toString('latin1'))
      if (next === 'cut before') return cut()
      isLast ||= next === 'cut after'
      service.write(data)
    })
    service.on('data', (data) => {
      if (isLast) cut()
      else client.write(data)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address() as AddressInfo // it listens on TCP
  return {
    baseUrl: `http://127.0.0.1:${address.port}/api/v1`,
    get cuts() {
      return cuts
    },
  }
}
