/** A TCP proxy to a Redis server that holds back or replaces replies, and counts commands. */

import { connect } from 'node:net'
import type { OwnRedis } from './redis.js'
import { tcpProxy } from './tcp-proxy.js'

export interface RedisProxy {
  readonly url: string
  /** Returns how often a text, such as the name of a command, was sent to the server. */
  sent(text: string): number
  /** Holds back all replies, or sends the held replies if `isHeld` is false. */
  hold(isHeld: boolean): void
  /** Replaces all later replies with `text`. `undefined` ends the replacement. */
  replaceReplies(text: string | undefined): void
  /** Connects later clients to another server. */
  moveTo(redis: OwnRedis): void
}

export async function proxyTo(redis: OwnRedis): Promise<RedisProxy> {
  let target = redis
  let commands = ''
  let isHeld = false
  let replacement: string | undefined
  let held: (() => void)[] = []
  const port = await tcpProxy(
    () => connect(target.url.replace('redis+unix://', '')),
    (client, server) => {
      client.on('data', (data) => {
        commands += data.toString('latin1').replaceAll(/x{100,}/g, '') // without the padding of long items
        server.write(data)
      })
      server.on('data', (data) => {
        const reply = replacement ?? data
        if (isHeld) held.push(() => client.write(reply))
        else client.write(reply)
      })
    },
  )

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
