/** Ways to differ from this service, of which the defects are made. */

import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Answer, Service } from '../../conformance/client.js'
import { record } from '../../conformance/expect.js'
import { mintToken, signatureOf, validClaims } from '../../conformance/tokens.js'
import {
  type Behavior,
  bodies,
  endpointOf,
  items,
  type Reply,
  type Request,
  replies,
  values,
} from './faulty-service.js'

export const health = 'GET /health'
export const list = 'GET /items'
export const create = 'POST /items'
export const read = 'GET /items/{id}'
export const replace = 'PUT /items/{id}'
export const remove = 'DELETE /items/{id}'
export const ofItem = [read, replace, remove]
export const ofItems = [list, create, ...ofItem]
export const withBody = [create, replace]

export type Members = Record<string, unknown>

/** Sets a status where the endpoints answer with another one. */
export const status = (endpoints: string[] | undefined, from: number, to: number) =>
  replies(endpoints, (reply) => (reply.status === from ? { ...reply, status: to } : reply))
/** Changes the answers in which a text stands. */
export const saying = (text: string, change: Partial<Reply>) =>
  replies(undefined, (reply) =>
    reply.text.includes(text)
      ? { ...reply, ...change, headers: { ...reply.headers, ...change.headers } }
      : reply,
  )
/** Sets headers, or takes them away, on the answers with one of these statuses. */
export const headers = (statuses: number[], change: IncomingHttpHeaders) =>
  replies(undefined, (reply) =>
    statuses.includes(reply.status)
      ? { ...reply, headers: { ...reply.headers, ...change } }
      : reply,
  )
export const allowing = (what: 'methods' | 'headers', names: string) =>
  headers([204], { [`access-control-allow-${what}`]: names })
/** Gives the successful answers of an endpoint other members. */
export const changed = (
  endpoint: string,
  change: Members | ((body: Members, request: Request) => Members),
) =>
  bodies([endpoint], successOf(endpoint), (body, request) => ({
    ...body,
    ...(typeof change === 'function' ? change(body, request) : change),
  }))
/** Takes a member away from the successful answers of an endpoint. */
export const without = (endpoint: string, name: string) =>
  bodies([endpoint], successOf(endpoint), (body) => lacking(body, name))
const successOf = (endpoint: string) => (endpoint === create ? 201 : 200)
/** Changes the members of an error. */
export const errors = (statusOf: number, change: (detail: Members) => unknown) =>
  bodies(undefined, statusOf, ({ detail }) => ({ detail: change(record(detail)) }))
export const code = (from: string, to: string, statusOf = 401) =>
  errors(statusOf, (detail) =>
    detail.error_code === from ? { ...detail, error_code: to } : detail,
  )
export const lacking = (body: Members, name: string) => {
  const { [name]: _left, ...rest } = body
  return rest
}
/** Refuses some requests. */
export const refusing =
  (isRefused: (request: Request) => boolean, reply: Reply): Behavior =>
  async (request, pass) =>
    isRefused(request) ? reply : await pass(request)
export const invalid: Reply = {
  status: 422,
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify({
    detail: { detail: 'no', session_id: randomUUID(), error_code: 'VALIDATION_ERROR' },
  }),
}
export const unauthorized: Reply = {
  status: 401,
  headers: { 'content-type': 'application/json', 'www-authenticate': 'Bearer' },
  text: JSON.stringify({
    detail: { detail: 'no', session_id: randomUUID(), error_code: 'INVALID_TOKEN' },
  }),
}
/** Handles the requests to one endpoint, and passes on all others. */
export const at =
  (endpoint: string, behave: Behavior): Behavior =>
  (request, pass, service) =>
    endpointOf(request) === endpoint ? behave(request, pass, service) : pass(request)
/** Does something more once an endpoint has answered with a status. */
export const afterwards = (
  endpoint: string,
  status: number,
  more: (...args: Parameters<Behavior>) => Promise<unknown>,
) =>
  at(endpoint, async (...args) => {
    const [request, pass] = args
    const reply = await pass(request)
    if (reply.status === status) await more(...args)
    return reply
  })
/** Changes the values of the requests to create or replace, where they can be read. */
export const requestValues = (
  endpoint: string,
  change: (value: Members, request: Request, service: Service) => unknown,
) =>
  at(endpoint, async (request, pass, service) => {
    const value = sentValue(request)
    if (value === undefined) return await pass(request)
    return await pass({ ...request, body: JSON.stringify(await change(value, request, service)) })
  })
/** Two defects: create and replace accept what is invalid. */
export const accepting = (what: string, change: (value: Members) => Members) =>
  Object.fromEntries(
    withBody.map((endpoint) => [`${endpoint} accepts ${what}`, requestValues(endpoint, change)]),
  )
export const sentValue = ({ body }: Request): Members | undefined => {
  try {
    return record(JSON.parse(body))
  } catch {
    return undefined
  }
}
export const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const tokenOf = (request: Request) =>
  /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1]
export const withToken = (request: Request, token: string): Request => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${token}` },
})
/** The claims of a token as they are, whoever has signed it; `undefined` if they cannot be read. */
export const claimsOf = (request: Request): Members | undefined => {
  try {
    const [, payload = ''] = tokenOf(request)?.split('.') ?? []
    return record(JSON.parse(Buffer.from(payload, 'base64url').toString()))
  } catch {
    return undefined
  }
}
export const algorithmOf = (request: Request): unknown => {
  try {
    const [header = ''] = tokenOf(request)?.split('.') ?? []
    return record(JSON.parse(Buffer.from(header, 'base64url').toString())).alg
  } catch {
    return undefined
  }
}
export const isSignedWell = (request: Request, secret: string): boolean => {
  const [header, payload, signature] = tokenOf(request)?.split('.') ?? []
  return signature === signatureOf(`${header}.${payload}`, secret)
}
/** Lets some requests in whatever their token is, with their own claims where they can be read. */
export const lettingIn =
  (isLetIn: (request: Request, secret: string) => boolean, claims: Members = {}): Behavior =>
  (request, pass, { secret }) => {
    if (!isLetIn(request, secret)) return pass(request)
    const own = { ...validClaims(), ...claimsOf(request), ...claims }
    return pass(withToken(request, mintToken(own, { secret })))
  }
/** Takes a header for one with the scheme Bearer where this pattern matches. */
export const scheme =
  (pattern: RegExp): Behavior =>
  (request, pass) => {
    const authorization = request.headers.authorization?.replace(pattern, 'Bearer ')
    return pass({ ...request, headers: { ...request.headers, authorization } })
  }
export const publicEndpoint = (endpoint: string) =>
  lettingIn((request) => endpointOf(request) === endpoint && !request.headers.authorization)

export const itemId = ({ path }: Request) => path.replace(/\?.*/, '').slice('/items/'.length)
/** The item in the text of an envelope. */
export const itemIn = (text: string): Members => record(record(JSON.parse(text)).data)
/** The item that a request is about, as it is stored. */
export const readBehind = (service: Service, request: Request): Promise<Answer> =>
  service.call('GET', `/items/${itemId(request)}`)

/** Changes the values of one type in all items, however deep. */
export const numbers = (change: (value: number) => unknown) =>
  values((value) => (typeof value === 'number' ? change(value) : value))
export const strings = (change: (value: string) => unknown) =>
  values((value) => (typeof value === 'string' ? change(value) : value))
export const arrays = (change: (value: unknown[]) => unknown) =>
  values((value) => (Array.isArray(value) ? change(value) : value))
export const objects = (change: (value: Members) => unknown) =>
  values((value) => (isObject(value) ? change(value) : value))
/** Changes names and values of the members of all items. */
export const entries = (change: (all: [string, unknown][]) => [string, unknown][]) =>
  items((item) => Object.fromEntries(change(Object.entries(item))))

/** The first answer again, instead of a new one. */
export function stale(endpoint: string): Behavior {
  const known = new Map<string, Reply>()
  return async (request, pass) => {
    const reply = await pass(request)
    if (endpointOf(request) !== endpoint || reply.status !== 200) return reply
    const first = known.get(request.path) ?? reply
    known.set(request.path, first)
    return first
  }
}

/** Ids of its own in front of those of the service. */
export function otherIds(idFor: (request: Request, id: string) => string): Behavior {
  const own = new Map<string, string>()
  const shown = new Map<string, string>()
  return async (request, pass) => {
    const id = itemId(request)
    const path = endpointOf(request).endsWith('{id}') ? `/items/${own.get(id) ?? id}` : request.path
    const reply = await pass({ ...request, path })
    if (!request.path.startsWith('/items') || reply.text === '') return reply
    if (endpointOf(request) === create && reply.status === 201) {
      const made = String(itemIn(reply.text).id)
      const other = idFor(request, made)
      own.set(other, made)
      shown.set(made, other)
    }
    return { ...reply, text: reply.text.replaceAll(uuid, (id) => shown.get(id) ?? id) }
  }
}
export const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g

export const clientsId = (request: Request): string | undefined => {
  const value = sentValue(request)
  const id = value?.id ?? (isObject(value?.data) ? value.data.id : undefined)
  return typeof id === 'string' ? id : undefined
}

/** Shows the items of a list in another way. */
export const listed = (change: (items: Members[]) => unknown) =>
  bodies([list], 200, (body) => ({
    ...body,
    data: change(Array.isArray(body.data) ? body.data.map(record) : []),
  }))

/** The members that a caller may see are those of items that it has created. */
export function owned(): Behavior {
  const owners = new Map<string, unknown>()
  return async (request, pass) => {
    const reply = await pass(request)
    const sub = claimsOf(request)?.sub
    if (endpointOf(request) === create && reply.status === 201) {
      owners.set(String(itemIn(reply.text).id), sub)
    }
    const owner = owners.get(itemId(request))
    return owner === undefined || owner === sub ? reply : { ...unauthorized, status: 403 }
  }
}

/** Accepts for ever what it has accepted once. */
export function remembering(): Behavior {
  const known = new Set<string>()
  return async (request, pass, service) => {
    const token = tokenOf(request) ?? ''
    const reply = await pass(known.has(token) ? withToken(request, service.validToken()) : request)
    if (reply.status < 300) known.add(token)
    return reply
  }
}

/** Answers an equal create with the item that is there. */
export function sameForEqual(): Behavior {
  const known = new Map<string, Reply>()
  return async (request, pass) => {
    if (endpointOf(request) !== create) return await pass(request)
    const reply = known.get(request.body) ?? (await pass(request))
    if (reply.status === 201) known.set(request.body, reply)
    return reply
  }
}

/** Keeps what is deleted in the list. */
export function stillListed(): Behavior {
  const gone: Members[] = []
  return async (request, pass, service) => {
    const isDelete = endpointOf(request) === remove
    const before = isDelete ? await readBehind(service, request) : undefined
    const reply = await listed((all) => [...all, ...gone])(request, pass, service)
    if (before?.status === 200 && reply.status === 204) gone.push(itemIn(before.text))
    return reply
  }
}
