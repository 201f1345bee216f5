/** Responses of the OpenAPI document, with their headers and examples. @module */

import { ApiError, type ErrorKind, type ErrorName, errorBody, errorKinds } from './errors.js'
import type * as models from './models.js'
import { type ExposedHeader, itemPath, replayedHeader, sessionHeader } from './paths.js'

const sessionId = '5f6f0d4e-9b54-4ce5-8a4e-0c6f1df0f6a2'
export const itemId = '0b8e5c3e-6d2c-4f0e-9f57-3f1f6b2f7a11'

export const entityTag = '"hGyTlnVDEAVGgNZBxPkJx-W5Y6wFFvSU8zpKuxcl1cg"'

const details: Record<ErrorName, string> = {
  MISSING_TOKEN: 'The Authorization header is missing',
  TOKEN_EXPIRED: 'The token has expired',
  INVALID_TOKEN: 'The token is invalid: its signature does not match',
  AUTH_NOT_CONFIGURED: 'The service has no usable JWT_SECRET or JWT_ALGORITHM',
  BAD_REQUEST: 'The Host header is missing',
  ROUTE_NOT_FOUND: 'GET /api/v1/items/a/b is not an endpoint',
  METHOD_NOT_ALLOWED: 'DELETE is not allowed here',
  REQUEST_TIMEOUT: 'The request did not arrive in time',
  IDEMPOTENCY_CONFLICT:
    'This Idempotency-Key already belongs to another item; Location has its path',
  PRECONDITION_FAILED: 'If-Match or If-None-Match is not met; ETag has the current tag',
  PAYLOAD_TOO_LARGE: 'The request body is larger than 16777216 bytes',
  VALIDATION_ERROR: "Invalid item request: data is missing; put the item's members in it",
  HEADERS_TOO_LARGE: 'The request head is too large',
  INTERNAL_ERROR: 'An internal error occurred',
  SERVICE_UNAVAILABLE: 'The service is overloaded',
  STORE_UNAVAILABLE: 'The store cannot be reached',
  STORE_FULL: 'The store is full: it may hold 1000000 bytes',
  itemNotFound: `Item ${itemId} not found`,
}

const itemRequest = { project_id: 'demo', data: { title: 'Buy milk', price: 1.5, done: false } }
const replaceRequest = { data: { title: 'Buy milk', done: true } }
const item = { id: itemId, project_id: 'demo', ...itemRequest.data }
const replacedItem = { id: itemId, project_id: null, ...replaceRequest.data }

export function examples(version: string): Record<string, object> {
  const healthy = {
    session_id: sessionId,
    status: 'healthy',
    service_name: 'item-store',
    version,
    services_summary: { total: 2, healthy: 2, unhealthy: 0 },
  }
  const all = {
    healthy,
    unhealthy: {
      ...healthy,
      status: 'unhealthy',
      services_summary: { total: 2, healthy: 1, unhealthy: 1 },
      unhealthy_subsystems: ['store'],
    },
    itemRequest,
    replaceRequest,
    createdItem: envelope('created', 'Item created successfully', item),
    item: envelope('success', 'Item retrieved successfully', item),
    replacedItem: envelope('updated', 'Item updated successfully', replacedItem),
    items: envelope('success', 'Items retrieved successfully', [item]),
  }
  const errors = Object.entries(details).map(([name, detail]) => {
    const error = new ApiError(name as ErrorName, detail) // the table of details has this key
    return [name, errorBody(error, sessionId)] as const
  })
  const named = [...Object.entries(all), ...errors]
  return Object.fromEntries(named.map(([name, value]) => [name, { value }]))
}

function envelope(status: string, message: string, data: object): object {
  return { session_id: sessionId, status, message, data }
}

/** Headers of error responses that aren't in `errorKinds`, because their values depend on the request. */
const ownHeaders: Partial<Record<ErrorName, DocumentedHeader>> = {
  METHOD_NOT_ALLOWED: 'Allow',
  IDEMPOTENCY_CONFLICT: 'Location',
  PRECONDITION_FAILED: 'ETag',
}

/** Headers that pages of any origin can read. `Cache-Control` need not be exposed (Fetch standard §2.2.2). */
export type DocumentedHeader = ExposedHeader | 'Cache-Control'

export const responseHeaders: Record<DocumentedHeader, object> = {
  'X-Session-Id': required(
    'Identifies this request, for tracing; `session_id` in the body is the same',
    sessionId,
    { format: 'uuid' },
  ),
  'WWW-Authenticate': required(
    'The required authentication: a bearer token with the claims of `TokenPayload`',
    'Bearer',
    { const: 'Bearer' },
  ),
  Allow: required('The methods of this path', 'GET, HEAD, POST, OPTIONS'),
  'Retry-After': {
    description:
      'Time to wait before a retry, in seconds; sent with `SERVICE_UNAVAILABLE` and `STORE_UNAVAILABLE`',
    schema: { type: 'integer', minimum: 0 },
    example: 1,
  },
  Location: required('The path of the item', itemPath(itemId), { format: 'uri-reference' }),
  ETag: required('Entity tag of the current state of the item or list', entityTag),
  'Cache-Control': required(
    'Tells caches not to store the body, because its `session_id` is for this request only',
    'no-store',
    { const: 'no-store' },
  ),
  'Preference-Applied': {
    description: 'The `wait` of the request header `Prefer`, if the service was ready to wait',
    schema: { type: 'string' },
    example: 'wait=1',
  },
  [replayedHeader]: {
    description: 'The item was created by an earlier request with this `Idempotency-Key`',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
}

function required(description: string, example: string, type: object = {}) {
  return { description, required: true, schema: { type: 'string', ...type }, example }
}

export function model(name: keyof typeof models): { $ref: string } {
  return reference('schemas', name)
}

export function emptyResponse(description: string, headers: readonly DocumentedHeader[] = []) {
  return { description, headers: references('headers', [sessionHeader, ...headers]) }
}

export function jsonResponse(
  description: string,
  schema: object,
  examples: readonly string[],
  headers: readonly DocumentedHeader[] = [],
) {
  const all = ['Cache-Control', ...headers] as const
  return { ...emptyResponse(description, all), content: jsonContent(schema, examples) }
}

export function jsonContent(schema: object, examples: readonly string[]) {
  return { 'application/json': { schema, examples: references('examples', examples) } }
}

export function errorResponses(names: readonly ErrorName[]): Record<number, object> {
  const statuses = new Set(names.map((name) => errorKinds[name].status))
  return Object.fromEntries(
    [...statuses].map((status) => {
      const alike = names.filter((name) => errorKinds[name].status === status)
      const headers = [...new Set(alike.flatMap(headersOf))]
      const description = alike.map(describe).join('\n\n')
      return [status, jsonResponse(description, model('ErrorResponse'), alike, headers)]
    }),
  )
}

function describe(name: ErrorName): string {
  const shown = name === 'itemNotFound' ? 'Without an `error_code`' : `\`${name}\``
  return `${shown}: ${errorKinds[name].when}.`
}

function headersOf(name: ErrorName): DocumentedHeader[] {
  const own = ownHeaders[name]
  if (own !== undefined) return [own]
  const { headers = [] }: ErrorKind = errorKinds[name]
  return headers.filter((header) => header in responseHeaders) as DocumentedHeader[] // the filter has checked the names
}

function references(kind: string, names: readonly string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, reference(kind, name)]))
}

function reference(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}
