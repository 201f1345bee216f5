/** Checks what all responses have in common. */

import { headerOf, type RawAnswer } from '../../support/raw-answers.js'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** The error codes of each status (spec §7). */
const codes: Readonly<Record<number, readonly (string | undefined)[]>> = {
  400: ['BAD_REQUEST'],
  401: ['MISSING_TOKEN', 'TOKEN_EXPIRED', 'INVALID_TOKEN'],
  404: ['ROUTE_NOT_FOUND', undefined],
  405: ['METHOD_NOT_ALLOWED'],
  413: ['PAYLOAD_TOO_LARGE'],
  422: ['VALIDATION_ERROR'],
  431: ['HEADERS_TOO_LARGE'],
  503: ['SERVICE_UNAVAILABLE'],
  507: ['STORE_FULL'],
}

/**
 * Returns what is wrong with the shape of a response, whatever its request was.
 * @param sessionIds the session ids of all earlier responses; that of this one is added.
 */
export function shapeProblem(
  { status, head, body }: RawAnswer,
  isHead: boolean,
  sessionIds: Set<string>,
): string | undefined {
  const sessionId = headerOf(head, 'x-session-id') ?? ''
  if (!uuid.test(sessionId)) return `its session id is "${sessionId}"`
  if (sessionIds.has(sessionId)) return 'its session id was that of an earlier answer'
  sessionIds.add(sessionId)
  if (headerOf(head, 'access-control-allow-origin') !== '*') return 'it has no CORS headers'
  if (status === 401 && headerOf(head, 'www-authenticate') !== 'Bearer') {
    return 'it has no challenge'
  }
  if (status === 204) return undefined
  if (headerOf(head, 'content-type') !== 'application/json') return 'it is not JSON'
  if (!/^\d+$/.test(headerOf(head, 'content-length') ?? '')) return 'it has no length'
  if (isHead) return undefined
  if (status < 400) {
    return body.startsWith(`{"session_id":"${sessionId}",`)
      ? undefined
      : 'its body has another session id'
  }
  const { detail } = JSON.parse(body)
  if (typeof detail?.detail !== 'string' || detail.session_id !== sessionId) {
    return 'it is not in the shape of errors'
  }
  return codes[status]?.includes(detail.error_code)
    ? undefined
    : `it has the code ${detail.error_code}`
}
