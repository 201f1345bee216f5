/** The examples of the OpenAPI document: requests and responses as they are sent. @module */

import { ApiError, type ErrorCode, errorBody } from './errors.js'
import type {
  GenericRequest,
  HealthCheckResponse,
  Item,
  ItemListResponse,
  ItemResponse,
} from './models.js'

export const sessionId = '5f6f0d4e-9b54-4ce5-8a4e-0c6f1df0f6a2'
export const itemId = '0b8e5c3e-6d2c-4f0e-9f57-3f1f6b2f7a11'

export const entityTag = '"hGyTlnVDEAVGgNZBxPkJx-W5Y6wFFvSU8zpKuxcl1cg"'

/** An error by its code; that of an unknown item, which has none, by this name (spec §7.2). */
export type ErrorName = ErrorCode | 'itemNotFound'

/** The `detail` of each error. */
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

const itemRequest: GenericRequest = {
  project_id: 'demo',
  data: { title: 'Buy milk', price: 1.5, done: false },
}
const replaceRequest: GenericRequest = { data: { title: 'Buy milk', done: true } }

const item: Item = { id: itemId, project_id: 'demo', ...itemRequest.data }
const replacedItem: Item = { id: itemId, project_id: null, ...replaceRequest.data }

export type ExampleName = keyof ReturnType<typeof examples>

/** All examples by name. @param version semantic version of the service. */
export function examples(version: string) {
  return {
    healthy: { value: health(version) },
    unhealthy: { value: health(version, 'store') },
    itemRequest: { value: itemRequest },
    replaceRequest: { value: replaceRequest },
    createdItem: { value: envelope('created', 'Item created successfully', item) },
    item: { value: envelope('success', 'Item retrieved successfully', item) },
    replacedItem: { value: envelope('updated', 'Item updated successfully', replacedItem) },
    items: { value: list([item]) },
    ...errorExamples(),
  }
}

function health(version: string, ...unhealthy: string[]): HealthCheckResponse {
  const count = unhealthy.length
  return {
    session_id: sessionId,
    status: count === 0 ? 'healthy' : 'unhealthy',
    service_name: 'item-store',
    version,
    services_summary: { total: 2, healthy: 2 - count, unhealthy: count },
    ...(count === 0 ? {} : { unhealthy_subsystems: unhealthy }),
  }
}

function envelope(status: ItemResponse['status'], message: string, data: Item): ItemResponse {
  return { session_id: sessionId, status, message, data }
}

function list(data: Item[]): ItemListResponse {
  const message = 'Items retrieved successfully'
  return { session_id: sessionId, status: 'success', message, data }
}

function errorExamples(): Record<ErrorName, { value: object }> {
  const names = Object.keys(details) as ErrorName[] // the keys of the table
  const entries = names.map((name) => [name, { value: errorBody(errorNamed(name), sessionId) }])
  return Object.fromEntries(entries)
}

function errorNamed(name: ErrorName): ApiError {
  const detail = details[name]
  return name === 'itemNotFound' ? new ApiError(404, detail) : new ApiError(name, detail)
}
