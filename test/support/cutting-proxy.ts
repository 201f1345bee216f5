/** A proxy that can close a connection before it passes on the request or the response. */

import { connect } from 'node:net'
import { tcpProxy } from './tcp-proxy.js'

/** `cut before` closes the connection before the request is passed on, `cut after` before the response. */
export type Fate = 'passed' | 'cut before' | 'cut after'

export type CuttingProxy = Awaited<ReturnType<typeof cuttingProxy>>

/** @param port returns the service's port. @param fate decides what happens to each chunk from a client. */
export async function cuttingProxy(port: () => number, fate: (request: string) => Fate) {
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
