/** A TCP proxy whose caller decides what happens to the bytes. */

import { createServer, type Socket } from 'node:net'
import { after } from 'node:test'
import { listen } from './process.js'

/** @param connectOn connects to the server for each client. @param link forwards the bytes. */
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
