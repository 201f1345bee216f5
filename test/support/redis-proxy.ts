/** A TCP proxy for a Redis server, which can hold back replies and counts commands. */

import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { OwnRedis } from './redis.js'
import { tcpProxy } from './tcp-proxy.js'

export type RedisProxy = Awaited<ReturnType<typeof proxyTo>>

export async function proxyTo(redis: OwnRedis) {
  let target = redis
  let commands = ''
  let isHeld = false
  let held: (() => void)[] = []
  let pace: [bytes: number, pause: number] | undefined
  const port = await tcpProxy(
    () => connect(target.url.replace('redis+unix://', '')),
    (client, server) => {
      client.on('data', (data) => {
        commands += data.toString('latin1').replaceAll(/x{100,}/g, '') // leaves out the padding of long items
        server.write(data)
      })
      server.on('data', (data) => {
        if (isHeld) held.push(() => client.write(data))
        else if (pace === undefined) client.write(data)
        else {
          server.pause()
          void sendSlowly(data, client, ...pace).then(() => server.resume())
        }
      })
    },
  )

  return {
    url: `redis://127.0.0.1:${port}`,

    sent: (text: string) => commands.split(text).length - 1,

    /** Holds back replies. With `false`, sends those held so far, and stops. */
    hold(isHeldNow: boolean): void {
      isHeld = isHeldNow
      if (isHeld) return
      for (const send of held) send()
      held = []
    },

    /** Sends replies in pieces of at most this many bytes, with a pause in ms after each. */
    slow(bytes: number, pause: number): void {
      pace = [bytes, pause]
    },

    /** Connects new clients to another server. */
    moveTo(other: OwnRedis): void {
      target = other
    },
  }
}

async function sendSlowly(data: Buffer, to: Socket, bytes: number, pause: number): Promise<void> {
  for (let start = 0; start < data.length && !to.destroyed; start += bytes) {
    to.write(data.subarray(start, start + bytes))
    await delay(pause)
  }
}
