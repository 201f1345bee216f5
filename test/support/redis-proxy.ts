/** A proxy to an engine that delays, holds back or replaces replies, counts commands, and may move to another one. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after } from 'node:test'
import type { OwnRedis } from './redis.js'

export interface RedisProxy {
  /** For `STORE_URL`. */
  readonly url: string
  /** How often a text, such as the name of a command, was sent to the engine. */
  sent(text: string): number
  /** Holds back all replies from now on, until called with `false`. */
  hold(isHeld: boolean): void
  /** Replaces everything that the engine replies from now on; `undefined` ends that. */
  replaceReplies(text: string | undefined): void
  /** Has the connections that follow end at another engine; those that are there stay where they are. */
  moveTo(redis: OwnRedis): void
}

/**
 * Listens until the test, or the test file, ends.
 * @param roundTrip the round-trip time that it adds, in milliseconds.
 */
export async function proxyTo(redis: OwnRedis, roundTrip = 0): Promise<RedisProxy> {
  let target = redis
  let commands = ''
  let isHeld = false
  let replacement: string | undefined
  let held: (() => void)[] = []
  const sockets = new Set<Socket>()

  const server = createServer((client) => {
    const engine = connect(target.url.replace('redis+unix://', ''))
    const forward = (from: Socket, to: Socket, seen: (data: Buffer) => void) => {
      sockets.add(from)
      from.on('error', () => to.destroy()).on('close', () => to.destroy())
      from.on('data', (data) => {
        // Timers of the same length fire in order.
        if (roundTrip === 0) seen(data)
        else setTimeout(() => seen(data), roundTrip / 2)
      })
    }
    forward(client, engine, (data) => {
      commands += data.toString('latin1').replaceAll(/x{100,}/g, '') // the filling of long items
      engine.write(data)
    })
    forward(engine, client, (data) => {
      const reply = replacement ?? data
      if (isHeld) held.push(() => client.write(reply))
      else client.write(reply)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on TCP
  after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })

  return {
    url: `redis://127.0.0.1:${port}`,
    sent: (text) => commands.split(text).length - 1,

    hold(isHeldNow) {
      isHeld = isHeldNow
      if (isHeld) return
      for (const send of held) send()
      held = []
    },

    replaceReplies(text) {
      replacement = text
    },

    moveTo(other) {
      target = other
    },
  }
}
