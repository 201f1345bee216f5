/** HTTP clients that keep their connections open. */

import * as http from 'node:http'
import * as https from 'node:https'
import { type Answer, answer, readAnswer, type Service } from '../conformance/client.js'

/** Sends a request. After a failed connection, the status is 0, and the text is the error code. */
export type Call = (
  method: string,
  path: string,
  body?: string,
  headers?: http.OutgoingHttpHeaders,
) => Promise<Answer>

const timeout = 10_000 // ms to wait for a response

export function keptClient({ baseUrl, mint }: Service, agent: http.Agent): Call {
  const { request } = baseUrl.protocol === 'https:' ? https : http
  const exp = Math.floor(Date.now() / 1000) + 7 * 24 * 3600
  const authorization = `Bearer ${mint({ sub: 'check', exp })}`
  return (method, path, body, others) =>
    new Promise((resolve) => {
      const headers = {
        authorization,
        ...others,
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      }
      const sent = request(baseUrl.href + path, { agent, method, headers, timeout })
      const fail = ({ code, message }: NodeJS.ErrnoException) =>
        resolve(answer(0, {}, code ?? message))
      sent
        .on('response', (response) => readAnswer(response).then(resolve, fail))
        .on('timeout', () => sent.destroy(new Error('no answer')))
        .on('error', fail)
        .end(body)
    })
}
