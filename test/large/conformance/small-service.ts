/** A second, small implementation of the interface. Tests give it defects by replacing its functions. */

import { randomUUID } from 'node:crypto'
import * as http from 'node:http'
import { text } from 'node:stream/consumers'
import { after } from 'node:test'
import { type Service, serviceAt } from '../../conformance/client.js'
import { record } from '../../conformance/expect.js'
import { inSeconds, signatureOf } from '../../conformance/tokens.js'
import { listen } from '../../support/process.js'

export type Members = Record<string, unknown>
export type Item = Members & { readonly id: string }
export type Items = Map<string, Item>

export interface Request {
  readonly endpoint: string // such as `PUT /items/{id}`; only `OPTIONS` for a preflight
  readonly id: string // in the path; may be empty
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

export interface Reply {
  readonly status: number
  readonly headers: http.OutgoingHttpHeaders
  readonly body: unknown // sent unchanged if it is a string, or else as JSON
}

export interface Token {
  readonly algorithm: unknown
  readonly signed: string // the token's header and payload
  readonly signature: string
}

export const health = 'GET /health'
export const list = 'GET /items'
export const create = 'POST /items'
export const read = 'GET /items/{id}'
export const replace = 'PUT /items/{id}'
export const remove = 'DELETE /items/{id}'

const prefix = '/api/v1'
const secret = 'a secret of at least thirty-two bytes'

/** Functions that define the small service's correct behaviour. Each defect replaces some of them. */
export const parts = {
  sessionId: (): string => randomUUID(),
  isPublic: ({ endpoint }: Request): boolean => endpoint === health || endpoint === 'OPTIONS',
  isSigned: ({ algorithm, signed, signature }: Token): boolean =>
    algorithm === 'HS256' && signature === signatureOf(signed, secret),
  isExpired: (exp: number): boolean => exp <= inSeconds(0),
  isAllowed: (_claims: Members, _request: Request): boolean => true,
  /** Whether a request takes effect although its token is rejected. */
  isDoneAnyway: (_request: Request): boolean => false,
  /** Parses a body, and turns long integers into strings that begin with `#`. `written` restores the exact digits. */
  parsed: (body: string): unknown =>
    JSON.parse(body.replaceAll(/(?<=[[:,]\s*)-?\d{16,}(?=\s*[,\]}])/g, '"#$&"')),
  requested: (value: Members, _request: Request): Members => value,
  members: (data: Members): Members => data,
  replaced: (_before: Item, next: Item): Item => next,
  remove: (items: Items, id: string): unknown => items.delete(id),
  listed: (items: Item[]): unknown => items.toReversed(),
  reply: (reply: Reply, _request: Request, _items: Items): Reply => reply,
}

export type Defect = Partial<typeof parts>

export async function smallService(defect: Defect = {}): Promise<Service> {
  const own = { ...parts, ...defect }
  const items: Items = new Map()
  const server = http.createServer(async (incoming, response) => {
    const request = requestOf(incoming, await text(incoming))
    const { status, headers, body } = own.reply(replyTo(request, own, items), request, items)
    const sent = Object.entries(headers).filter(([, value]) => value !== undefined)
    response.writeHead(status, Object.fromEntries(sent)).end(written(body))
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return serviceAt(new URL(`http://127.0.0.1:${await listen(server)}${prefix}`), secret)
}

function requestOf({ method, url = '', headers }: http.IncomingMessage, body: string): Request {
  const [path = ''] = url.replace(prefix, '').split('?')
  const [, id = ''] = /^\/items\/(.+)$/.exec(path) ?? []
  const endpoint = `${method} ${id === '' ? path : '/items/{id}'}`
  return { endpoint: method === 'OPTIONS' ? method : endpoint, id, headers, body }
}

function written(body: unknown): string | undefined {
  if (body === undefined || typeof body === 'string') return body
  return JSON.stringify(body).replaceAll(/"#(-?\d+)"/g, '$1')
}

function reply(status: number, body?: unknown, headers: http.OutgoingHttpHeaders = {}): Reply {
  const type = body === undefined ? undefined : 'application/json'
  const common = { 'access-control-allow-origin': '*', 'content-type': type }
  return { status, headers: { ...common, ...headers }, body }
}

function refusal(status: number, error_code: string, session_id: string): Reply {
  const headers = { 'www-authenticate': status === 401 ? 'Bearer' : undefined }
  return reply(status, { detail: { detail: 'refused', session_id, error_code } }, headers)
}

function replyTo(request: Request, own: typeof parts, items: Items): Reply {
  const session_id = own.sessionId()
  const code = tokenProblem(request, own)
  if (code === undefined) return answerTo(request, own, items, session_id)
  if (own.isDoneAnyway(request)) answerTo(request, own, items, session_id)
  return refusal(401, code, session_id)
}

function tokenProblem(request: Request, own: typeof parts): string | undefined {
  if (own.isPublic(request)) return undefined
  const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1]
  if (token === undefined) return 'MISSING_TOKEN'
  try {
    const [header = '', payload = '', signature = ''] = token.split('.')
    const { alg: algorithm } = decoded(header)
    const claims = decoded(payload)
    const isSigned = own.isSigned({ algorithm, signed: `${header}.${payload}`, signature })
    if (isSigned && own.isExpired(Number(claims.exp))) return 'TOKEN_EXPIRED'
    return isSigned && own.isAllowed(claims, request) ? undefined : 'INVALID_TOKEN'
  } catch {
    return 'INVALID_TOKEN'
  }
}

function decoded(part: string): Members {
  return record(JSON.parse(Buffer.from(part, 'base64url').toString()))
}

function answerTo(request: Request, own: typeof parts, items: Items, session_id: string): Reply {
  const { endpoint, id } = request
  const envelope = (httpStatus: number, status: string, message: string, data: unknown) =>
    reply(httpStatus, { session_id, status, message, data })
  if (endpoint === 'OPTIONS') {
    const methods = { 'access-control-allow-methods': 'GET, POST, PUT, DELETE' }
    const names = { 'access-control-allow-headers': 'Authorization, Content-Type' }
    return reply(204, undefined, { ...methods, ...names })
  }
  if (endpoint === health) {
    const services_summary = { total: 0, healthy: 0, unhealthy: 0 }
    const about = { service_name: 'small', version: '2.0.0-rc.1+build.5', services_summary }
    return reply(200, { session_id, status: 'healthy', ...about, uptime: 1 })
  }
  if (endpoint === list) return reply(200, own.listed([...items.values()]))
  const item = items.get(id)
  const value = endpoint === create || endpoint === replace ? valueIn(request, own) : {}
  if (value === undefined) return refusal(422, 'VALIDATION_ERROR', session_id)
  if (endpoint === create) {
    const made = itemOf(randomUUID(), value, own)
    items.set(made.id, made)
    return envelope(201, 'created', 'Item created successfully', made)
  }
  if (item === undefined) return reply(404, { detail: `there is no ${id}`, session_id })
  if (endpoint === read) return envelope(200, 'success', 'Item retrieved successfully', item)
  if (endpoint === remove) {
    own.remove(items, id)
    return reply(204)
  }
  const next = own.replaced(item, itemOf(id, value, own))
  items.set(next.id, next)
  return envelope(200, 'updated', 'Replaced', next)
}

function valueIn(request: Request, own: typeof parts): Members | undefined {
  try {
    const value = own.requested(record(own.parsed(request.body)), request)
    record(value.data)
    const { project_id = 'none' } = value
    return typeof project_id === 'string' && project_id !== '' ? value : undefined
  } catch {
    return undefined
  }
}

function itemOf(id: string, { data, project_id }: Members, own: typeof parts): Item {
  const { id: _id, project_id: _project, ...members } = own.members(record(data))
  return { id, project_id, ...members }
}
