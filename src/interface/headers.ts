/** The headers that answers have in common. @module */

/** Header names and values in turn, as `node:http` takes them at no further cost. */
export type HeaderList = readonly string[]

/** Carries the session id (spec §1.4); the only place for it on a 204. */
export const sessionHeader = 'X-Session-Id'

/** Response headers that a page of another origin may read. */
const exposedHeaders = [sessionHeader, 'WWW-Authenticate', 'Allow', 'Retry-After', 'Location']

/**
 * Stand on every answer (spec §1.5): without them a browser hides the body and all other headers from
 * the page, so that every error would look like a CORS error.
 */
export const corsHeaders: HeaderList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  exposedHeaders.join(', '),
]
