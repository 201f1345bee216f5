/** This service behind a proxy that changes requests and answers, which makes another implementation of it. */

import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { after } from 'node:test'
import { startItemStore } from '../../../src/index.js'
import { type Service, send, serviceAt } from '../../conformance/client.js'
import { record } from '../../conformance/expect.js'
import { listen } from '../../support/process.js'

export interface Request {
  readonly method: string
  /** Relative to the base url, with the query. */
  readonly path: string
  /** Names in lower case; one that is `undefined` is not sent. */
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Reply {
  readonly status: number
  /** Names in lower case; one that is `undefined` is not sent. */
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Passes a request on to the service behind. */
type Pass = (request: Request) => Promise<Reply>

/**
 * Answers a request in its own way.
 * @param service the one behind, for requests and tokens of one's own.
 */
export type Behavior = (request: Request, pass: Pass, service: Service) => Promise<Reply>

/** About one connection, not about the answer. */
const dropped = ['connection', 'keep-alive', 'content-length', 'transfer-encoding', 'date', 'host']

/** Starts one, which ends with the file of tests. */
export async function faultyService(behave: Behavior): Promise<Service> {
  const secret = 'a secret of at least thirty-two bytes'
  const store = await startItemStore({ secret })
  const behind = serviceAt(new URL(store.baseUrl), secret)
  const prefix = behind.baseUrl.pathname

  async function pass({ method, path, headers, body }: Request): Promise<Reply> {
    const options = { headers, ...(body === '' ? {} : { body }) }
    const target = path.startsWith('/..') ? path.slice(3) : prefix + path
    const { status, headers: answered, text } = await send(behind.baseUrl, method, target, options)
    return { status, headers: without(answered, dropped), text }
  }

  const server = createServer(async (incoming, response) => {
    const { method = '', url = '' } = incoming
    const path = url.startsWith(prefix) ? url.slice(prefix.length) : `/..${url}`
    const headers = without(incoming.headers, dropped)
    const reply = await behave({ method, path, headers, body: await text(incoming) }, pass, behind)
    response.writeHead(reply.status, without(reply.headers, [])).end(reply.text)
  })
  after(async () => {
    server.close()
    server.closeAllConnections()
    await store.stop()
  })
  return serviceAt(new URL(`http://127.0.0.1:${await listen(server)}${prefix}`), secret)
}

function without(headers: IncomingHttpHeaders, names: readonly string[]): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !names.includes(name),
  )
  return Object.fromEntries(kept)
}

/** A method and a path, such as `PUT /items/{id}`, without the query. */
export function endpointOf({ method, path }: Request): string {
  return `${method} ${path.replace(/\?.*/, '').replace(/^\/items\/[^/]+$/, '/items/{id}')}`
}

/** Which requests are meant: of any of these endpoints, or all of them. */
type Endpoints = readonly string[] | undefined

function isMeant(request: Request, endpoints: Endpoints): boolean {
  return endpoints === undefined || endpoints.includes(endpointOf(request))
}

/** Changes the requests to some endpoints. */
export function requests(endpoints: Endpoints, change: (request: Request) => Request): Behavior {
  return (request, pass) => pass(isMeant(request, endpoints) ? change(request) : request)
}

/** Changes the answers of some endpoints. */
export function replies(
  endpoints: Endpoints,
  change: (reply: Reply, request: Request) => Reply,
): Behavior {
  return async (request, pass) => {
    const reply = await pass(request)
    return isMeant(request, endpoints) ? change(reply, request) : reply
  }
}

/** Changes the bodies with which some endpoints answer with a status. */
export function bodies(
  endpoints: Endpoints,
  status: number,
  change: (body: Record<string, unknown>, request: Request) => unknown,
): Behavior {
  return replies(endpoints, (reply, request) => {
    if (reply.status !== status || reply.text === '') return reply
    return { ...reply, text: JSON.stringify(change(record(JSON.parse(reply.text)), request)) }
  })
}

/** Changes each item in the bodies of all successful answers, lists included. */
export function items(change: (item: Record<string, unknown>) => unknown): Behavior {
  return replies(undefined, (reply, request) => {
    if (reply.status >= 300 || !/^\/items/.test(request.path) || reply.text === '') return reply
    const body = record(JSON.parse(reply.text))
    const data = Array.isArray(body.data)
      ? body.data.map((item) => change(record(item)))
      : change(record(body.data))
    return { ...reply, text: JSON.stringify({ ...body, data }) }
  })
}

/** Changes each value in all items, however deep, apart from ids. */
export function values(change: (value: unknown) => unknown): Behavior {
  return items((item) => {
    const { id, ...members } = item
    return { id, ...record(mapped(members, change)) }
  })
}

function mapped(value: unknown, change: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return change(value.map((each) => mapped(each, change)))
  if (typeof value !== 'object' || value === null) return change(value)
  const entries = Object.entries(value).map(([name, each]) => [name, mapped(each, change)])
  return change(Object.fromEntries(entries))
}
