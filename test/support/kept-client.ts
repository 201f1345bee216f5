/** HTTP clients that keep their connections. */

import * as http from 'node:http'
import * as https from 'node:https'
import { after } from 'node:test'
import { type Answer, answer, readAnswer, type Service } from '../conformance/client.js'
import { itemOf } from '../conformance/expect.js'
import { until } from './until.js'

/** A response. If the connection fails, its status is 0 and its text is the error's code. */
export interface Outcome extends Answer {
  readonly isNew: boolean
}

export type Call = (
  method: string,
  path: string,
  body?: string,
  headers?: http.OutgoingHttpHeaders,
) => Promise<Outcome>

/** Maximum time for a response, in milliseconds. */
const timeout = 10_000

/** @param agent limits the number of connections. */
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
      const settle = (found: Answer) => resolve({ ...found, isNew: !sent.reusedSocket })
      const fail = ({ code, message }: NodeJS.ErrnoException) =>
        settle(answer(0, {}, code ?? message))
      sent
        .on('response', (response) => readAnswer(response).then(settle, fail))
        .on('timeout', () => sent.destroy(new Error('no answer')))
        .on('error', fail)
        .end(body)
    })
}

/** Starts clients that create items, each on one connection, until `stop` or until a connection is refused. */
export function busyClients(service: Service, count: number) {
  let isOver = false
  const clients = Array.from({ length: count }, () => {
    const [ids, broken]: [string[], string[]] = [[], []]
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    after(() => agent.destroy())
    return { ids, broken, call: keptClient(service, agent) }
  })
  const works = clients.map(async ({ ids, broken, call }) => {
    while (!isOver && broken.length <= 2) {
      const answer = await call('POST', '/items', '{"data":{}}')
      const { status, text, isNew } = answer
      if (status !== 0) ids.push(itemOf(answer, 201).id)
      else if (text === 'ECONNREFUSED') return
      else broken.push(`${text}${isNew ? ' on a new connection' : ''}`)
    }
  })
  return {
    async untilBusy(): Promise<void> {
      const before = clients.map(({ ids }) => ids.length)
      await until('all clients are busy', () =>
        clients.every(({ ids }, place) => ids.length > (before[place] ?? 0) + 20),
      )
    },
    stop(): void {
      isOver = true
    },
    /** Waits until all clients have ended. `broken` lists errors of their connections. */
    async ended(): Promise<readonly { ids: string[]; broken: string[] }[]> {
      await Promise.all(works)
      return clients
    },
  }
}
