/** Drops clients that do not read what was sent to them. @module */

import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** How often connections are looked at, as a part of the timeout. */
const checks = 4

/**
 * Closes connections on which nothing got any further for too long.
 *
 * Node's own idle timeout does the same with a timer that is set twice for each request; that costs
 * a tenth of the time of a small one (bench/CHOICES.md). Connections that wait for a request, or in
 * the middle of one, have their own timeouts.
 *
 * @param timeout in milliseconds.
 */
export function dropStalledConnections(server: Server, timeout: number): void {
  /** For each connection, how many bytes the system has taken, and since when. */
  const waiting = new Map<Socket, { taken: number; since: number }>()
  server.on('connection', (socket) => {
    waiting.set(socket, { taken: 0, since: Date.now() })
    socket.once('close', () => waiting.delete(socket))
  })

  const timer = setInterval(() => {
    const now = Date.now()
    for (const [socket, before] of waiting) {
      const left = socket.writableLength
      const taken = socket.bytesWritten - left
      if (left === 0 || taken !== before.taken) waiting.set(socket, { taken, since: now })
      else if (now - before.since >= timeout) socket.destroy()
    }
  }, timeout / checks)
  timer.unref()
  server.once('close', () => clearInterval(timer))
}
