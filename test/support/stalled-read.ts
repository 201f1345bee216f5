/** Reads that stop after the first bytes of the response. */

import { once } from 'node:events'
import type { Service } from '../conformance/client.js'
import { headOf, openSocket, wholeText } from './socket.js'

/** Begins to read a response that is too long for the buffers of the system. */
export async function stalledRead(service: Service, path: string) {
  const socket = openSocket(service.baseUrl, headOf(service, 'GET', path, 'Connection: close'))
  await once(socket, 'readable')
  return {
    /** Reads the rest. Returns the response body, or `undefined` if the service has cut it. */
    async body(): Promise<string | undefined> {
      const text = await wholeText(socket).catch(() => '')
      const length = Number(/^Content-Length: (\d+)\r$/im.exec(text)?.[1])
      const body = text.slice(text.indexOf('\r\n\r\n') + 4)
      return body.length === length ? Buffer.from(body, 'latin1').toString() : undefined
    },
  }
}
