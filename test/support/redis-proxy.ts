/** A proxy to a server that holds back or replaces replies, counts commands, and may move to another one. */

import { connect } from 'node:net'
import type { OwnRedis } from './redis.js'
import { tcpProxy } from './tcp-proxy.js'

export interface RedisProxy {
  /** For `STORE_URL`. */
  readonly url: string
  /** How often a text, such as the name of a command, was sent to the server. */
  sent(text: string): number
  /** Holds back all replies from now on, until called with `false`. */
  hold(isHeld: boolean): void
  /** Replaces everything that the server replies from now on; `undefined` ends that. */
  replaceReplies(text: string | undefined): void
  /** Has the connections that follow end at another server; those that are there stay where they are. */
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
        commands += data.toString('latin1').replaceAll(/x{100,}/g, '') // the filling of long items
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
