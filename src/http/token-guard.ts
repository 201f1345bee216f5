/** Bearer tokens on requests (spec §5, RFC 6750 §2.1). @module */

import { verifyToken } from '../auth/token.js'
import { ApiError } from '../interface/errors.js'
import type { Exchange } from './exchange.js'

const scheme = 'bearer '

/** Guard of the routes that require a token. @throws {ApiError} for a 401 or 503. */
export function requireToken(exchange: Exchange): void {
  exchange.token = verifyToken(bearerToken(exchange.request.headers.authorization))
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
  return authorization.slice(scheme.length).trimStart()
}
