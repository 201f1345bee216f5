/** Turns request plans into requests with their possible responses. Each character is sent as one byte. */

import { randomUUID } from 'node:crypto'
import { malformed, type RequestPlan } from './conversation.js'

export interface Surroundings {
  readonly tokens: Readonly<Record<RequestPlan['token'], string>>
  readonly ids: readonly string[] // items, existing or deleted, that no other connection uses
  readonly maxBodyBytes: number
}

export interface Request {
  readonly plan: RequestPlan
  readonly bytes: Buffer
  readonly isHead: boolean
  readonly headLength: number
  readonly statuses: readonly number[]
  readonly isLast: boolean // the service closes the connection after the response
  readonly isBroken: boolean // the service may ignore later requests because of an error in this one
  readonly id: string | undefined
  /** The written item's text after the id, or `undefined` if the request writes no item. */
  readonly tail: string | undefined
}

let marks = 0

export function makeRequest(plan: RequestPlan, around: Surroundings): Request {
  marks += 1
  const mark = `m${marks}x`
  if (plan.what === 'malformed') return malformedRequest(plan)
  const known = plan.isUnknownId ? undefined : around.ids[plan.target % around.ids.length]
  const hasId = ['replace', 'read', 'delete'].includes(plan.what)
  const id = hasId ? (known ?? randomUUID()) : undefined
  const { text, tail } = bodyOf(plan, mark, around.maxBodyBytes)
  const head = headOf(plan, id, text?.length, around)
  const statuses = expectedStatuses(plan, text !== undefined)
  const isBroken = text !== undefined && isChunked(plan) && plan.isChunkBroken
  const refusals = statuses.filter((status) => !writes(plan) || (status >= 400 && status !== 404))
  return {
    plan,
    bytes: Buffer.from(head + (text === undefined ? '' : framed(plan, text)), 'latin1'),
    headLength: head.length,
    isHead: methodOf(plan) === 'HEAD',
    statuses: isBroken ? [400, ...refusals] : statuses,
    isLast: isBroken || plan.isClosing,
    isBroken,
    id,
    tail: writes(plan) ? tail : undefined,
  }
}

function malformedRequest(plan: RequestPlan): Request {
  const [status, text] = malformed[plan.target % malformed.length] ?? malformed[0]
  const bytes = Buffer.from(text, 'latin1')
  return {
    ...{ plan, bytes, headLength: bytes.length, statuses: [status], isHead: false },
    ...{ isLast: true, isBroken: true, id: undefined, tail: undefined },
  }
}

function writes({ what }: RequestPlan): boolean {
  return what === 'create' || what === 'replace'
}

function isChunked(plan: RequestPlan): boolean {
  return plan.chunks.length > 0
}

/** Returns the request body, and the part of the resulting item's text that follows the id. */
function bodyOf(plan: RequestPlan, mark: string, maxBytes: number) {
  const { body, target } = plan
  if (body.kind === 'none' || (!writes(plan) && target % 5 > 0)) return {}
  if (body.kind === 'invalid') return { text: body.text }
  if (body.kind === 'too long') return { text: `{"data":{"a":"${'x'.repeat(maxBytes)}"}}` }
  let value = ''
  if (body.kind === 'text') value = Buffer.from(body.json).toString('latin1')
  if (body.kind === 'padded') value = `"${mark.repeat(body.length / mark.length)}"`
  const data = value === '' ? '' : `"mark":"${mark}","value":${value}`
  const project = target % 3 === 0 ? `"p-${mark}"` : 'null'
  const given = target % 3 === 0 ? `,"project_id": ${project}` : ''
  const members = data === '' ? '' : `,${data}`
  return { text: `{ "data":{${data}}${given}}`, tail: `","project_id":${project}${members}}` }
}

function framed(plan: RequestPlan, text: string): string {
  if (!isChunked(plan)) return text
  let rest = text
  let all = ''
  for (const length of plan.chunks) {
    const chunk = rest.slice(0, length)
    rest = rest.slice(length)
    const extension = length % 7 === 0 ? ';a=b' : ''
    if (chunk !== '') all += `${chunk.length.toString(16)}${extension}\r\n${chunk}\r\n`
  }
  if (plan.isChunkBroken) return `${all}zz\r\n` // not a hexadecimal size
  if (rest !== '') all += `${rest.length.toString(16).padStart(4, '0')}\r\n${rest}\r\n`
  return `${all}0\r\n${plan.target % 4 === 0 ? 'Trailer: a\r\n' : ''}\r\n`
}

function headOf(
  plan: RequestPlan,
  id: string | undefined,
  length: number | undefined,
  { tokens }: Surroundings,
): string {
  const lines = [`${methodOf(plan)} ${targetOf(plan, id)} HTTP/1.1`, 'Host: a:1']
  if (tokens[plan.token] !== '') lines.push(`Authorization: ${tokens[plan.token]}`)
  if (plan.what === 'preflight') lines.push('Access-Control-Request-Method: PUT')
  if (length !== undefined) {
    lines.push(isChunked(plan) ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`)
  }
  if (writes(plan)) lines.push(`Content-Type: ${plan.isJson ? 'application/json' : 'text/plain'}`)
  if (plan.isClosing) lines.push('Connection: close')
  return `${lines.join('\r\n')}\r\n\r\n`
}

type ByKind<T> = Partial<Record<RequestPlan['what'], T>>

const methods: ByKind<string> = {
  ...{ create: 'POST', replace: 'PUT', delete: 'DELETE', patch: 'PATCH' },
  ...{ preflight: 'OPTIONS', options: 'OPTIONS' },
}
const targets: ByKind<string> = {
  ...{ health: '/api/v1/health', 'bad path': '/api/v1/items/%zz', 'unknown path': '/unknown' },
}

function methodOf({ what, isHead }: RequestPlan): string {
  return methods[what] ?? (isHead ? 'HEAD' : 'GET')
}

function targetOf({ what }: RequestPlan, id: string | undefined): string {
  return targets[what] ?? (id === undefined ? '/api/v1/items' : `/api/v1/items/${id}`)
}

/** Returns the statuses that the response may have. The first failing check decides (interface §4). */
function expectedStatuses(plan: RequestPlan, hasBody: boolean): number[] {
  const always: ByKind<number> = {
    ...{ 'bad path': 400, 'unknown path': 404, preflight: 204, options: 204, patch: 405 },
    health: 200,
  }
  const status = always[plan.what]
  if (status !== undefined) return [status]
  if (plan.token !== 'good' && plan.token !== 'another') return [401]
  if (plan.what === 'list') return [200]
  if (plan.what === 'read') return [200, 404]
  if (plan.what === 'delete') return [204, 404]
  if (!plan.isJson) return [422]
  if (hasBody && plan.body.kind === 'too long') return isChunked(plan) ? [413, 503] : [413]
  if (!hasBody || plan.body.kind === 'invalid') return [422, 503]
  return plan.what === 'create' ? [201, 503, 507] : [200, 404, 503, 507]
}
