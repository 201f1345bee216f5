/** Paths (spec §4) and header names of the interface. @module */

export const prefix = '/api/v1'

/** Endpoint paths, without their prefix (spec §4). A name in braces stands for any path segment. */
export const paths = { health: '/health', items: '/items', item: '/items/{item_id}' } as const

/** Path of the OpenAPI document, without the prefix, because it isn't an endpoint. */
export const documentPath = '/openapi.json'

/** Path of the tools for agents, which are not part of the interface. */
export const mcpPath = '/mcp'

/** Paths of pages and files (interface §4.8), without the prefix, because they aren't endpoints. */
export const pagePaths = {
  docs: '/docs',
  items: '/',
  assets: '/assets',
  index: '/llms.txt',
  security: '/SECURITY.md',
} as const

/** Documentation folders, named the same in the package and in URLs (interface §4.8). */
export const documentFolders = [
  '/docs',
  '/docs/explanation',
  '/docs/how-to',
  '/docs/reference',
] as const

export function itemPath(id: string): string {
  return `${prefix}${paths.items}/${id}`
}

/** Names and values of headers in turn, as `node:http` accepts them. */
export type HeaderList = readonly string[]

/** Header with the session id (spec §1.4). In a 204, the id is nowhere else. */
export const sessionHeader = 'X-Session-Id'

/** Response header that marks a repeated create (draft-ietf-httpapi-idempotency-key-header-07). */
export const replayedHeader = 'Idempotent-Replayed'

/** Forbids caching: a cached body has an earlier `session_id` (spec §1.4, RFC 9111 §5.2.2.5). */
export const neverStored: HeaderList = ['Cache-Control', 'no-store']

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

/** CORS headers (spec §1.5). Without them, a page of another origin can't read errors. */
export const corsHeaders: HeaderList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  exposedHeaders.join(', '),
]
