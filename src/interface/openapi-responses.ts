/** Responses and their headers in the OpenAPI document. @module */

import { type ErrorKind, errorKinds } from './errors.js'
import { type ExposedHeader, replayedHeader, sessionHeader } from './headers.js'
import {
  type ErrorName,
  type ExampleName,
  entityTag,
  itemId,
  sessionId,
} from './openapi-examples.js'
import { itemPath } from './paths.js'
import type * as schemas from './schemas.js'

type ModelName = keyof typeof schemas

const kinds: Record<ErrorName, ErrorKind> = {
  ...errorKinds,
  itemNotFound: { status: 404, when: 'The item is not in the store' },
}

/** A header whose value the catalogue of errors cannot know. */
const ownHeaders: Partial<Record<ErrorName, DocumentedHeader>> = {
  METHOD_NOT_ALLOWED: 'Allow',
  IDEMPOTENCY_CONFLICT: 'Location',
  PRECONDITION_FAILED: 'ETag',
}

/** A header of a response; those without a name in `ExposedHeader` may be read by any page (Fetch standard §2.2.2). */
export type DocumentedHeader = ExposedHeader | 'Cache-Control'

/** The definition of each header. */
export const responseHeaders: Record<DocumentedHeader, object> = {
  'X-Session-Id': {
    description: 'Identifies this request, for tracing; `session_id` in the body is the same',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: sessionId,
  },
  'WWW-Authenticate': {
    description: 'What is required: a bearer token, with the claims of `TokenPayload`',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
  Allow: {
    description: 'The methods of this path',
    required: true,
    schema: { type: 'string' },
    example: 'GET, HEAD, POST, OPTIONS',
  },
  'Retry-After': {
    description: 'When to retry, in seconds; with `SERVICE_UNAVAILABLE` and `STORE_UNAVAILABLE`',
    schema: { type: 'integer', minimum: 0 },
    example: 1,
  },
  Location: {
    description: 'The path of the item',
    required: true,
    schema: { type: 'string', format: 'uri-reference' },
    example: itemPath(itemId),
  },
  ETag: {
    description: 'Identifies the current state',
    required: true,
    schema: { type: 'string' },
    example: entityTag,
  },
  'Cache-Control': {
    description: 'No cache may store the body, whose `session_id` belongs to this request',
    required: true,
    schema: { type: 'string', const: 'no-store' },
    example: 'no-store',
  },
  'Preference-Applied': {
    description: 'The `wait` of `Prefer`, if the request was ready to wait',
    schema: { type: 'string' },
    example: 'wait=1',
  },
  [replayedHeader]: {
    description: 'The item was created by an earlier request with this `Idempotency-Key`',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
}

/** A reference to a model. */
export function model(name: ModelName): { $ref: string } {
  return reference('schemas', name)
}

/** A response without a body. */
export function emptyResponse(description: string, headers: readonly DocumentedHeader[] = []) {
  return { description, headers: references('headers', [sessionHeader, ...headers]) }
}

/** A response with a JSON body. */
export function jsonResponse(
  description: string,
  schema: object,
  examples: readonly ExampleName[],
  headers: readonly DocumentedHeader[] = [],
) {
  const all = ['Cache-Control', ...headers] as const
  return { ...emptyResponse(description, all), content: jsonContent(schema, examples) }
}

/** A JSON body. */
export function jsonContent(schema: object, examples: readonly ExampleName[]) {
  return { 'application/json': { schema, examples: references('examples', examples) } }
}

/** The responses for some errors, one for each status, with an example of each error. */
export function errorResponses(names: readonly ErrorName[]): Record<number, object> {
  const statuses = new Set(names.map((name) => kinds[name].status))
  return Object.fromEntries(
    [...statuses].map((status) => {
      const alike = names.filter((name) => kinds[name].status === status)
      return [status, errorResponse(alike)]
    }),
  )
}

function errorResponse(names: readonly ErrorName[]) {
  const description = names.map((name) => `${shown(name)}: ${whenOf(name)}.`).join('\n\n')
  const headers = [...new Set(names.flatMap(headersOf))]
  return jsonResponse(description, model('ErrorResponse'), names, headers)
}

function shown(name: ErrorName): string {
  return name === 'itemNotFound' ? 'Without an `error_code`' : `\`${name}\``
}

/** Without the references to clauses, which readers of this document do not have. */
function whenOf(name: ErrorName): string {
  return kinds[name].when.replace(/ \(spec .*?\)/, '')
}

function headersOf(name: ErrorName): DocumentedHeader[] {
  const own = ownHeaders[name]
  if (own !== undefined) return [own]
  const names = (kinds[name].headers ?? []).filter((_, place) => place % 2 === 0)
  return names.filter((header) => header in responseHeaders) as DocumentedHeader[] // just checked
}

function references(kind: string, names: readonly string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, reference(kind, name)]))
}

function reference(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}
