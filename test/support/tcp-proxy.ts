/** A TCP proxy. The caller decides what happens to the bytes. */

import { createServer, type Socket } from 'node:net'
import { after } from 'node:test'
import { listen } from './process.js'

/**
 * Starts a proxy on 127.0.0.1, which runs until the end of the test or test file. When the client or the server closes
 * its connection, the proxy closes the connection to the other side.
 * @param connectOn opens a connection to the server, once for each client.
 * @param link forwards bytes between client and server.
 * @returns the port of the proxy.
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
