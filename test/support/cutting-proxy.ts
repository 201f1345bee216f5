/** A proxy to a service that cuts connections, before a request arrives or before its answer does. */

import { connect } from 'node:net'
import { tcpProxy } from './tcp-proxy.js'

/** What becomes of a request: its connection may be cut before it arrives, or before its answer does. */
export type Fate = 'passed' | 'cut before' | 'cut after'

export interface CuttingProxy {
  /** Ends with `/api/v1`. */
  readonly baseUrl: string
  /** How many connections it has cut. */
  readonly cuts: number
}

/**
 * @param port that the service listens on at the time.
 * @param fate asked for each request. Requests that arrive in several parts count as several.
 */
export async function cuttingProxy(
  port: () => number,
  fate: (request: string) => Fate,
): Promise<CuttingProxy> {
  let cuts = 0
  const ownPort = await tcpProxy(
    () => connect(port(), '127.0.0.1'),
    (client, service) => {
      let isLast = false
      const cut = () => {
        cuts += 1
        client.destroy()
      }
      client.on('data', (data) => {
        const next = fate(data.toString('latin1'))
        if (next === 'cut before') return cut()
        isLast ||= next === 'cut after'
        service.write(data)
      })
      service.on('data', (data) => {
        if (isLast) cut()
        else client.write(data)
      })
    },
  )
  return {
    baseUrl: `http://127.0.0.1:${ownPort}/api/v1`,
    get cuts() {
      return cuts
    },
  }
}
