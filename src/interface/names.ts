/**
 * Names in the interface: the paths of the endpoints (spec §4), the OpenAPI document and the pages, and the headers
 * that all responses have.
 *
 * @module
 */

/** Path prefix of all endpoints (spec §9.1). */
export const prefix = '/api/v1'

/** Paths of the endpoints, relative to the prefix. A name in braces stands for any single segment. */
export const paths = {
  health: '/health',
  items: '/items',
  item: '/items/{item_id}',
} as const

/** Path of the OpenAPI document. It is not an endpoint of the interface, so it has no prefix. */
export const documentPath = '/openapi.json'

/** Paths of the pages, of their files, of the documentation's index, and of SECURITY.md (interface §4.8). */
export const pagePaths = {
  docs: '/docs',
  items: '/',
  assets: '/assets',
  index: '/llms.txt',
  security: '/SECURITY.md',
} as const

/** Folders of the documentation (interface §4.8), which are the same in the package and in URLs. */
export const documentFolders = ['/docs', '/docs/how-to', '/docs/reference'] as const

/** Returns the path of an item, including the prefix. */
export function itemPath(id: string): string {
  return `${prefix}${paths.items}/${id}`
}

/** Alternating header names and values, a format that `node:http` accepts. */
export type HeaderList = readonly string[]

/** Response header with the session id (spec §1.4). In a 204, which has no body, the id is only in this header. */
export const sessionHeader = 'X-Session-Id'

/** Response header of a create that repeats an earlier one (draft-ietf-httpapi-idempotency-key-header-07). */
export const replayedHeader = 'Idempotent-Replayed'

/**
 * Header of each response whose body has a session id, and of each 304 that replaces such a response. If a cache reused
 * a stored body, another request would get a wrong `session_id` (spec §1.4, RFC 9111 §5.2.2.5).
 */
export const neverStored: HeaderList = ['Cache-Control', 'no-store']

/** Response headers that pages from other origins are allowed to read. */
const exposedHeaders = [
  sessionHeader,
  'WWW-Authenticate',
  'Allow',
  'Retry-After',
  'Location',
  'ETag',
  'Preference-Applied',
  replayedHeader,
] as const
export type ExposedHeader = (typeof exposedHeaders)[number]

/**
 * CORS headers of every response (spec §1.5). Without these headers, a browser would hide the response from the page.
 * Every error would look like a CORS error.
 */
export const corsHeaders: HeaderList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  exposedHeaders.join(', '),
]
