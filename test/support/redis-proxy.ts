/** A TCP proxy for a Redis server, which can hold back replies and counts commands. */

import { connect } from 'node:net'
import type { OwnRedis } from './redis.js'
import { tcpProxy } from './tcp-proxy.js'

export type RedisProxy = Awaited<ReturnType<typeof proxyTo>>

export async function proxyTo(redis: OwnRedis) {
  let target = redis
  let commands = ''
  let isHeld = false
  let held: (() => void)[] = []
  const port = await tcpProxy(
    () => connect(target.url.replace('redis+unix://', '')),
    (client, server) => {
      client.on('data', (data) => {
        commands += data.toString('latin1').replaceAll(/x{100,}/g, '') // without the padding of long items
        server.write(data)
      })
      server.on('data', (data) => {
        if (isHeld) held.push(() => client.write(data))
        else client.write(data)
      })
    },
  )

  return {
    url: `redis://127.0.0.1:${port}`,

    sent: (text: string) => commands.split(text).length - 1,

    /** Starts to hold back replies or, if `isHeldNow` is false, sends all held replies and stops holding them back. */
    hold(isHeldNow: boolean): void {
      isHeld = isHeldNow
      if (isHeld) return
      for (const send of held) send()
      held = []
    },

    /** From now on, connects new clients to another server. */
    moveTo(other: OwnRedis): void {
      target = other
    },
  }
}
