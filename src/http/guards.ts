/** What a request must pass before it reaches its handler. @module */

import type { CurrentSigning } from '../auth/secret.js'
import { verifyToken } from '../auth/token.js'
import { ApiError, type ExceededLimit } from '../interface/errors.js'
import type { Guard } from './exchange.js'

const scheme = 'bearer '

/** Refuses requests while the process exceeds a limit, except deletes, which free memory. */
export function createLoadGuard(exceededLimit: () => ExceededLimit | undefined): Guard {
  return function refuseOverload({ request }) {
    const exceeded = exceededLimit()
    if (exceeded === undefined || request.method === 'DELETE') return
    throw new ApiError('SERVICE_UNAVAILABLE', 'The service is overloaded', { exceeded })
  }
}

/** Requires a bearer token (spec §5, RFC 6750 §2.1); throws an `ApiError` with 401 or 503. */
export function createTokenGuard(currentSigning: CurrentSigning): Guard {
  const signing = onceForAll(currentSigning)
  return function requireToken(exchange) {
    const token = bearerToken(exchange.request.headers.authorization)
    exchange.token = verifyToken(token, signing())
  }
}

/** Calls a function once for all requests that are handled together: no other code runs between them. */
function onceForAll<T extends object>(call: () => T): () => T {
  let result: T | undefined
  const forget = () => {
    result = undefined
  }
  return () => {
    if (result === undefined) {
      result = call()
      queueMicrotask(forget)
    }
    return result
  }
}

function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw new ApiError('MISSING_TOKEN', 'The Authorization header is missing')
  }
  // The scheme is matched in any letter case (RFC 9110 §11.1).
  if (authorization.slice(0, scheme.length).toLowerCase() !== scheme) {
    throw new ApiError(
      'MISSING_TOKEN',
      'The Authorization header is not of the form "Bearer <token>"',
    )
  }
  return authorization.slice(scheme.length).replace(/^ +/, '')
}
