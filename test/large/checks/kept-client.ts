/** A client that keeps its connections, for as many requests as it can send, and outlives lost ones. */

import { type Agent, request } from 'node:http'
import type { Service } from '../../conformance/client.js'

/** `status` is 0 when there was no whole response, and `text` then says why. */
export interface Outcome {
  readonly status: number
  readonly text: string
}

export type Call = (method: string, path: string, body?: string) => Promise<Outcome>

/** Sends requests with a token that outlasts any run. Paths are relative to the base URL. */
export function keptClient(service: Service, agent: Agent): Call {
  const exp = Math.floor(Date.now() / 1000) + 7 * 24 * 3600
  const authorization = `Bearer ${service.mint({ sub: 'check', exp })}`
  return (method, path, body) =>
    new Promise((resolve) => {
      const fail = (error: Error) => resolve({ status: 0, text: String(error) })
      const url = new URL(service.baseUrl.pathname + path, service.baseUrl)
      const headers = {
        authorization,
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      }
      const sent = request(url, { agent, method, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk)).on('error', fail)
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
        })
      })
      sent.on('error', fail).end(body)
    })
}
