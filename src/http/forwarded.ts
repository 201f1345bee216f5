/** What trusted proxies say about a request: where it came from, and under which origin it was sent. @module */

import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { networksOf } from '../config/kinds.js'
import type { Config } from '../config/settings.js'

export interface Forwarded {
  /** The address of the client; `undefined` once its connection is closed. */
  clientOf(request: IncomingMessage): string | undefined
  /** Scheme and host that the client used; `undefined` if the request names no usable host. */
  originOf(request: IncomingMessage): string | undefined
}

export function createForwarded({ trustedProxies }: Pick<Config, 'trustedProxies'>): Forwarded {
  const networks = trustedProxies === undefined ? undefined : networksOf(trustedProxies)

  function isTrusted(address: string | undefined): boolean {
    if (networks === undefined || address === undefined) return false
    return networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }

  return {
    clientOf({ socket, headers }) {
      let client = socket.remoteAddress
      if (!isTrusted(client)) return client
      // Each proxy adds the address that it was called from, so only the last ones are known to be true.
      const hops = String(headers['x-forwarded-for'] ?? '').split(',')
      while (isTrusted(client)) {
        const hop = hops.pop()?.trim() ?? ''
        if (isIP(hop) === 0) break
        client = hop
      }
      return client
    },

    originOf({ socket, headers }) {
      const isSecure = isTrusted(socket.remoteAddress) && headers['x-forwarded-proto'] === 'https'
      const origin = `${isSecure ? 'https' : 'http'}://${headers.host ?? ''}`
      return URL.canParse(origin) ? new URL(origin).origin : undefined
    },
  }
}
