/** One request and its answer, as they go from hand to hand, and the route that they take. @module */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { VerifiedToken } from '../auth/secret.js'
import { newSessionId } from '../connections/answer-head.js'
import type { Connection } from '../connections/connection.js'
import type { ErrorCode } from '../interface/errors.js'
import type { Awaitable } from '../store/item-store.js'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly connection: Connection
  /** New for each request (spec §1.4). */
  readonly sessionId: string
  /** Of `performance.now()`. */
  readonly startedAt: number
  /** `undefined` for a path that nobody serves. */
  route: Route | undefined
  /** The segments of the path that stand for a name in braces, decoded. */
  params: Readonly<Record<string, string | undefined>>
  /** Whether its answer has begun. Only parser errors are answered without. */
  isStarted: boolean
  /** The token that let this request in (spec §5.8); `undefined` on public routes. */
  token: VerifiedToken | undefined
  /** The code of the error that was answered, for log and metrics. */
  errorCode: ErrorCode | undefined
}

/** Answers a request. */
export type Handler = (exchange: Exchange) => Awaitable<void>

/** Lets a request on. @throws to refuse it. */
export type Guard = (exchange: Exchange) => void

/** One path of the interface. */
export interface Route {
  /** With names of segments in braces. */
  readonly path: string
  /** What a request with a handler has to pass first, in order. */
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

/** The path that was asked for, without the query, which may hold what nobody should read. */
export function pathOf({ request }: Exchange): string {
  const [path = ''] = (request.url ?? '').split('?', 1)
  return path
}
