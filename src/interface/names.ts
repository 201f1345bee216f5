/** Paths (spec §4) and header names of the interface. @module */

export const prefix = '/api/v1'

/** Paths of the endpoints (spec §4) after the prefix. Braces stand for any single segment. */
export const paths = {
  health: '/health',
  items: '/items',
  item: '/items/{item_id}',
} as const

/** Path of the OpenAPI document. It has no prefix, because it is not an endpoint. */
export const documentPath = '/openapi.json'

/** Paths of pages and files, which are not endpoints and have no prefix (interface §4.8). */
export const pagePaths = {
  docs: '/docs',
  items: '/',
  assets: '/assets',
  index: '/llms.txt',
  security: '/SECURITY.md',
} as const

/** Folders of the documentation, both in the package and in URLs (interface §4.8). */
export const documentFolders = ['/docs', '/docs/how-to', '/docs/reference'] as const

export function itemPath(id: string): string {
  return `${prefix}${paths.items}/${id}`
}

/** Alternating header names and values, a format that `node:http` accepts. */
export type HeaderList = readonly string[]

/** Header with the session id (spec §1.4). A 204 has no body, so the id is only in this header. */
export const sessionHeader = 'X-Session-Id'

/** Header of a repeated create (draft-ietf-httpapi-idempotency-key-header-07). */
export const replayedHeader = 'Idempotent-Replayed'

/** A cached body would have the `session_id` of another request (spec §1.4, RFC 9111 §5.2.2.5). */
export const neverStored: HeaderList = ['Cache-Control', 'no-store']

/** Response headers that pages from other origins may read. */
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

/** CORS headers (spec §1.5). Without them, browsers would hide even errors from the page. */
export const corsHeaders: HeaderList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  exposedHeaders.join(', '),
]
