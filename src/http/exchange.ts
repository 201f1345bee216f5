/** One request and its response, as they are passed from part to part, and the type of a route. @module */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { VerifiedToken } from '../auth/token-cache.js'
import type { Connection } from '../connections/connection.js'
import { newSessionId } from '../connections/response-head.js'
import type { ErrorCode } from '../interface/errors.js'
import type { Awaitable } from '../store/item-store.js'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly connection: Connection
  /** New for each request (spec §1.4). */
  readonly sessionId: string
  /** The value of `performance.now()`. */
  readonly startedAt: number
  /** `undefined` for an unknown path. */
  route: Route | undefined
  /** The path segments that match a name in braces, decoded. */
  params: Readonly<Record<string, string | undefined>>
  /** Whether its response has begun. Responses to parser errors are sent without setting this. */
  isStarted: boolean
  /** The verified token of this request (spec §5.8); `undefined` on public routes. */
  token: VerifiedToken | undefined
  /** Code of the error in the response, for log and metrics. */
  errorCode: ErrorCode | undefined
}

/** Answers a request. */
export type Handler = (exchange: Exchange) => Awaitable<void>

/** Passes a request on. @throws to refuse it. */
export type Guard = (exchange: Exchange) => void

/** One path of the interface. */
export interface Route {
  /** With the names of variable segments in braces. */
  readonly path: string
  /** What a request must pass before it reaches a handler, in order. */
  readonly guards: readonly Guard[]
  /** HEAD is answered like GET, OPTIONS with the methods, and every other method with 405. */
  readonly handlers: Readonly<Partial<Record<'GET' | 'POST' | 'PUT' | 'DELETE', Handler>>>
}

export function newExchange(
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
): Exchange {
  return {
    request,
    response,
    connection,
    sessionId: newSessionId(),
    startedAt: performance.now(),
    route: undefined,
    params: {},
    isStarted: false,
    token: undefined,
    errorCode: undefined,
  }
}

/** The requested path, without the query, which may contain secrets. */
export function pathOf({ request }: Exchange): string {
  const [path = ''] = (request.url ?? '').split('?', 1)
  return path
}
