/** The headers that responses have in common. @module */

/** Alternating header names and values, the form that `node:http` accepts at no extra cost. */
export type HeaderList = readonly string[]

/** Carries the session id (spec §1.4); the only place for it on a 204. */
export const sessionHeader = 'X-Session-Id'

/** Response headers that a page from another origin may read. */
const exposedHeaders = [
  sessionHeader,
  'WWW-Authenticate',
  'Allow',
  'Retry-After',
  'Location',
] as const
export type ExposedHeader = (typeof exposedHeaders)[number]

/**
 * On every response (spec §1.5): without them, a browser hides its body and all other headers from the
 * page, so that every error would look like a CORS error.
 */
export const corsHeaders: HeaderList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  exposedHeaders.join(', '),
]
