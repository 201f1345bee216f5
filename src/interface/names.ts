/**
 * The names in the interface: the paths of the endpoints (spec §4), of the document that describes them and of the
 * pages; and the headers common to responses.
 *
 * @module
 */

/** All endpoints are served under this prefix (spec §9.1). */
export const prefix = '/api/v1'

/** Relative to the prefix; a name in braces stands for any one segment. */
export const paths = {
  health: '/health',
  items: '/items',
  item: '/items/{item_id}',
} as const

/** The OpenAPI document: not an endpoint, and therefore without the prefix. */
export const documentPath = '/openapi.json'

/** The pages (interface §4.8), the files that they load, the index of the documents, and one that is in no folder. */
export const pagePaths = {
  docs: '/docs',
  items: '/',
  assets: '/assets',
  index: '/llms.txt',
  security: '/SECURITY.md',
} as const

/** The folders of the documents (interface §4.8), as in the package. */
export const documentFolders = ['/docs', '/docs/how-to', '/docs/reference'] as const

/** The path of an item, prefix included. */
export function itemPath(id: string): string {
  return `${prefix}${paths.items}/${id}`
}

/** Alternating header names and values, which `node:http` takes as they are. */
export type HeaderList = readonly string[]

/** Carries the session id (spec §1.4); the only place for it on a 204. */
export const sessionHeader = 'X-Session-Id'

/** Says that a create had been done before (draft-ietf-httpapi-idempotency-key-header-07). */
export const replayedHeader = 'Idempotent-Replayed'

/**
 * On every response with a session id in its body, and on a 304 in place of one. A cache that stored such a body and
 * revalidated it by itself would show its `session_id` again, as that of another request (spec §1.4, RFC 9111 §5.2.2.5).
 */
export const neverStored: HeaderList = ['Cache-Control', 'no-store']

/** Response headers that a page from another origin may read. */
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
 * On every response (spec §1.5): without them, a browser would hide body and headers from the page, and
 * every error would look like a CORS error.
 */
export const corsHeaders: HeaderList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  exposedHeaders.join(', '),
]
