/** The session id: one new UUID for each request, for tracing (spec §1.4). @module */

import { newUuid } from '../uuid.js'

/** Response header that carries the session id; the only place for it on a 204. */
export const sessionHeader = 'X-Session-Id'

/** A new session id, UUID version 4. Never taken from the client. */
export function newSessionId(): string {
  return newUuid()
}
