/** The bytes of a planned request, and its possible responses. Strings have a character for each byte. */

import { randomUUID } from 'node:crypto'
import type { Body, RequestPlan } from './conversation.js'
import { malformed } from './conversation.js'

/** What a request depends on besides its plan. */
export interface Surroundings {
  readonly tokens: Readonly<Record<RequestPlan['token'], string>>
  /** Ids of items that existed when the conversation started, or had been deleted before. */
  readonly ids: readonly string[]
  readonly maxBodyBytes: number
}

export interface Request {
  readonly plan: RequestPlan
  readonly bytes: Buffer
  readonly isHead: boolean
  /** Length of its head; what follows may have to wait for `100 Continue`. */
  readonly headLength: number
  readonly statuses: readonly number[]
  /** A string that only the response to this request contains. */
  readonly echo: string
  /** Whether it may be answered with `100 Continue` first. */
  readonly mayContinue: boolean
  /** Whether the connection is closed after its answer. */
  readonly isLast: boolean
  /** Whether the service may stop reading at an error in this request, and never read the following requests. */
  readonly isBroken: boolean
  /** The id of the item in its path. */
  readonly id: string | undefined
  /** The text after the id of the item that it writes. */
  readonly tail: string | undefined
}

let marks = 0

/** A line that stands in place of the size of a chunk. */
const brokenSize = 'zz\r\n'

export function makeRequest(plan: RequestPlan, around: Surroundings): Request {
  marks += 1
  const mark = `m${marks}x`
  if (plan.what === 'malformed') return malformedRequest(plan)
  const id = isAboutItem(plan) ? idOf(plan, around) : undefined
  const { text, tail } = bodyOf(plan, mark, around.maxBodyBytes)
  const body = text === undefined ? '' : framed(plan, text)
  const head = headOf(plan, { mark, id, length: text?.length, around })
  return {
    plan,
    bytes: Buffer.from(head + body, 'latin1'),
    headLength: head.length,
    // The service does not know the method if the head is too long.
    isHead: methodOf(plan) === 'HEAD' && plan.head !== 'long',
    ...outcomeOf(plan, { mark, id, hasBody: text !== undefined }),
    mayContinue: canHaveBody(plan) && plan.expectsContinue && !isOld(plan),
    id,
    tail: writes(plan) ? tail : undefined,
  }
}

function malformedRequest(plan: RequestPlan): Request {
  const bytes = Buffer.from(malformed[plan.target % malformed.length] ?? '', 'latin1')
  return {
    ...{ plan, bytes, headLength: bytes.length, statuses: [400], echo: '', mayContinue: false },
    ...{ isHead: false, isLast: true, isBroken: true, id: undefined, tail: undefined },
  }
}

function writes({ what }: RequestPlan): boolean {
  return what === 'create' || what === 'replace'
}

function isAboutItem({ what }: RequestPlan): boolean {
  return what === 'replace' || what === 'read' || what === 'delete'
}

function canHaveBody(plan: RequestPlan): boolean {
  return writes(plan)
}

function isOld({ keeping }: RequestPlan): boolean {
  return keeping.startsWith('1.0')
}

/** Whether the connection stays open; with HTTP/1.0, a response without a body closes it. */
function isKept({ keeping, what }: RequestPlan): boolean {
  const canBeEmpty = what === 'delete' || what === 'options' || what === 'preflight'
  return keeping === 'open' || keeping === 'upgrade' || (keeping === '1.0 kept' && !canBeEmpty)
}

function isChunked(plan: RequestPlan): boolean {
  return plan.chunks.length > 0 && !isOld(plan)
}

function idOf({ isUnknownId, target }: RequestPlan, { ids }: Surroundings): string {
  return (isUnknownId ? undefined : ids[target % ids.length]) ?? randomUUID()
}

/** Returns the body, and the text after the id of the item that it makes. */
function bodyOf(
  plan: RequestPlan,
  mark: string,
  maxBytes: number,
): { text: string | undefined; tail: string | undefined } {
  const { body } = plan
  // Requests other than create and replace rarely have a body.
  if (!writes(plan) && (plan.target % 5 > 0 || plan.what === 'connect')) {
    return { text: undefined, tail: undefined }
  }
  const data = membersOf(body, mark)
  if (data !== undefined) {
    const project = plan.target % 3 === 0 ? `"p-${mark}"` : 'null'
    const given = plan.target % 3 === 0 ? `,"project_id": ${project}` : ''
    const members = data === '' ? '' : `,${data}`
    return { text: `{ "data":{${data}}${given}}`, tail: `","project_id":${project}${members}}` }
  }
  if (body.kind === 'too long') {
    return { text: `{"data":{"a":"${'x'.repeat(maxBytes)}"}}`, tail: undefined }
  }
  return { text: body.kind === 'invalid' ? body.text : undefined, tail: undefined }
}

function membersOf(body: Body, mark: string): string | undefined {
  switch (body.kind) {
    case 'text':
      return `"mark":"${mark}","value":${Buffer.from(body.json).toString('latin1')}`
    case 'padded':
      return `"mark":"${mark}","pad":"${mark.repeat(body.length / mark.length)}"`
    case 'minimal':
      return ''
    default:
      return undefined
  }
}

function framed(plan: RequestPlan, text: string): string {
  if (!isChunked(plan)) return text
  let rest = text
  let all = ''
  for (const length of plan.chunks) {
    const chunk = rest.slice(0, length)
    rest = rest.slice(length)
    if (chunk !== '')
      all += `${chunk.length.toString(16)}${length % 7 === 0 ? ';a=b' : ''}\r\n${chunk}\r\n`
  }
  if (plan.brokenChunk === 'size') return all + brokenSize
  if (rest !== '') all += `${rest.length.toString(16).padStart(4, '0')}\r\n${rest}`
  if (plan.brokenChunk === 'end') return `${all}x\r\n`
  return `${all}${rest === '' ? '' : '\r\n'}0\r\n${plan.target % 4 === 0 ? 'Trailer: a\r\n' : ''}\r\n`
}

interface Parts {
  readonly mark: string
  readonly id: string | undefined
  readonly length: number | undefined
  readonly around: Surroundings
}

function headOf(plan: RequestPlan, { mark, id, length, around }: Parts): string {
  const lines = [
    `${methodOf(plan)} ${targetOf(plan, mark, id)} HTTP/${isOld(plan) ? '1.0' : '1.1'}`,
  ]
  if (plan.host !== 'none') lines.push(plan.host === 'bad' ? 'Host: a/b' : 'Host: a:1')
  if (plan.host === 'two') lines.push('Host: a:1')
  const token = around.tokens[plan.token]
  if (token !== '') lines.push(`Authorization: ${token}`)
  if (plan.what === 'preflight') lines.push(`Access-Control-Request-Method: ${mark}`)
  if (length !== undefined || writes(plan)) {
    if (isChunked(plan) && length !== undefined) lines.push('Transfer-Encoding: chunked')
    else if (length !== undefined) lines.push(`Content-Length: ${length}`)
    if (plan.contentType === 'json') lines.push('Content-Type: application/json')
    if (plan.contentType === 'other') lines.push(`Content-Type: text/${mark}`)
  }
  if (plan.expectsContinue) lines.push('Expect: 100-continue')
  if (plan.keeping === 'close') lines.push('Connection: close')
  if (plan.keeping === '1.0 kept' && isKept(plan)) lines.push('Connection: keep-alive')
  if (plan.keeping === 'upgrade') lines.push('Connection: Upgrade', 'Upgrade: websocket')
  if (plan.head === 'many lines') {
    for (let line = 0; line < 200; line += 1) lines.push(`L${line}: a`)
  }
  if (plan.head === 'long') lines.push(`Long: ${'a'.repeat(20_000)}`)
  return `${plan.head === 'line breaks before' ? '\r\n\r\n' : ''}${lines.join('\r\n')}\r\n\r\n`
}

/** The methods of requests that do not read. */
const methods: Partial<Record<RequestPlan['what'], string>> = {
  ...{ create: 'POST', replace: 'PUT', delete: 'DELETE', patch: 'PATCH', connect: 'CONNECT' },
  ...{ preflight: 'OPTIONS', options: 'OPTIONS' },
}

function methodOf({ what, isHead }: RequestPlan): string {
  return methods[what] ?? (isHead ? 'HEAD' : 'GET')
}

function targetOf({ what }: RequestPlan, mark: string, id: string | undefined): string {
  const targets: Partial<Record<RequestPlan['what'], string>> = {
    ...{ health: '/api/v1/health', 'unknown path': `/${mark}` },
    ...{ 'bad path': '/api/v1/items/%zz', connect: 'a:1' },
  }
  return targets[what] ?? (id === undefined ? '/api/v1/items' : `/api/v1/items/${id}`)
}

type Outcome = Pick<Request, 'statuses' | 'echo' | 'isLast' | 'isBroken'>

/** Applies the checks of the interface from the last to the first, as the first one decides (spec §4). */
function outcomeOf(
  plan: RequestPlan,
  { mark, id, hasBody }: { mark: string; id: string | undefined; hasBody: boolean },
): Outcome {
  const answer = expectedAnswer(plan, mark, id, hasBody)
  const isRefused = plan.expectsContinue && !isOld(plan) && !isBodyWanted(answer)
  const isLast = isRefused || !isKept(plan)
  let outcome: Outcome = { ...answer, isLast, isBroken: false }
  if (hasBody && isChunked(plan) && plan.brokenChunk !== 'no') {
    const statuses = writes(plan)
      ? [400, ...outcome.statuses.filter((status) => status >= 400 && status !== 404)]
      : [400, ...outcome.statuses]
    outcome = { statuses, echo: '', isLast: true, isBroken: true }
  }
  if (plan.what === 'connect') outcome = refusal(400, true)
  const isHostWrong = plan.host === 'none' ? !isOld(plan) : plan.host !== 'good'
  if (isHostWrong) outcome = refusal(400, outcome.isBroken)
  if (plan.head === 'many lines') outcome = refusal(431, outcome.isBroken)
  if (plan.head === 'long') outcome = refusal(431, true)
  return outcome
}

/** Whether the service reads the body before it responds. */
export function isBodyWanted({ statuses }: Pick<Request, 'statuses'>): boolean {
  return statuses.includes(503)
}

function refusal(status: number, isBroken: boolean): Outcome {
  return { statuses: isBroken ? [400, status] : [status], echo: '', isLast: true, isBroken }
}

function expectedAnswer(
  plan: RequestPlan,
  mark: string,
  id: string | undefined,
  hasBody: boolean,
): { statuses: number[]; echo: string } {
  const isHead = methodOf(plan) === 'HEAD'
  const always: Partial<Record<RequestPlan['what'], [status: number, echo: string]>> = {
    ...{ 'bad path': [400, ''], 'unknown path': [404, isHead ? '' : mark] },
    ...{ preflight: [204, mark], options: [204, ''], patch: [405, ''], health: [200, ''] },
  }
  const [status, given = ''] = always[plan.what] ?? []
  if (status !== undefined) return { statuses: [status], echo: given }
  if (plan.token !== 'good' && plan.token !== 'another') return { statuses: [401], echo: '' }
  if (plan.what === 'list') return { statuses: [200], echo: '' }
  if (plan.what === 'read') return { statuses: [200, 404], echo: isHead ? '' : (id ?? '') }
  if (plan.what === 'delete') return { statuses: [204, 404], echo: '' }
  if (plan.contentType === 'other') return { statuses: [422], echo: `text/${mark}` }
  if (hasBody && plan.body.kind === 'too long')
    return { statuses: isChunked(plan) ? [413, 503] : [413], echo: '' }
  if (!hasBody || plan.body.kind === 'invalid') return { statuses: [422, 503], echo: '' }
  return { statuses: plan.what === 'create' ? [201, 503, 507] : [200, 404, 503, 507], echo: '' }
}
