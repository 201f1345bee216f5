/** A TCP proxy to a Redis server that holds back replies, and counts commands. */

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

    /** Holds back all replies, or sends the held replies if `isHeldNow` is false. */
    hold(isHeldNow: boolean): void {
      isHeld = isHeldNow
      if (isHeld) return
      for (const send of held) send()
      held = []
    },

    /** Connects later clients to another server. */
    moveTo(other: OwnRedis): void {
      target = other
    },
  }
}
