/** A proxy on TCP; what it does with the bytes is up to whoever starts it. */

import { createServer, type Socket } from 'node:net'
import { after } from 'node:test'
import { listen } from './process.js'

/**
 * Listens on 127.0.0.1 until the test, or the test file, is over. When one end is closed, so is the other.
 * @param connectOn connects to the server, once for each client.
 * @param link passes on what the ends send.
 * @returns the port.
 */
export async function tcpProxy(
  connectOn: () => Socket,
  link: (client: Socket, server: Socket) => void,
): Promise<number> {
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connectOn()
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    link(client, server)
  })
  const port = await listen(proxy)
  after(() => {
    proxy.close()
    for (const socket of sockets) socket.destroy()
  })
  return port
}
