/** Bearer tokens on requests (spec §5, RFC 6750 §2.1). @module */

import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { type VerifiedToken, verifyToken } from '../auth/token.js'
import { ApiError } from './errors.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The token that let this request in (spec §5.8); `undefined` on public routes. */
    token: VerifiedToken | undefined
  }
}

const scheme = 'bearer '

/** Hook for the routes that need a token: lets the request on, or answers 401. */
export function requireToken(
  request: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  const verified = verifyToken(bearerToken(request.headers.authorization))
  if (verified instanceof Promise) {
    const goOn = (error?: Error) => {
      if (!reply.raw.headersSent) done(error) // else it was refused meanwhile for its body
    }
    verified.then((token) => letIn(request, token, goOn), goOn)
  } else {
    letIn(request, verified, done)
  }
}

function letIn(request: FastifyRequest, token: VerifiedToken, done: HookHandlerDoneFunction): void {
  request.token = token
  done()
}

function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw new ApiError('MISSING_TOKEN', 'The Authorization header is missing')
  }
  // The scheme is matched in any letter case (RFC 9110 §11.1).
  if (authorization.slice(0, scheme.length).toLowerCase() !== scheme) {
    throw new ApiError('MISSING_TOKEN', 'The Authorization header has no Bearer token')
  }
  return authorization.slice(scheme.length).trimStart()
}
