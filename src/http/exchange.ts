/** Exchanges (a request with its response), and routes. @module */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BlockList } from 'node:net'
import type { VerifiedToken } from '../auth/secret.js'
import { ApiError, type ErrorCode } from '../interface/errors.js'
import type { Connection } from '../listener/connection.js'
import { BufferedBytes } from '../memory/buffered-bytes.js'
import type { ReadMemory } from '../memory/read-memory.js'
import { performance } from '../memory/timers.js'
import type { Awaitable } from '../store/item-store.js'

type Readers = ReturnType<typeof createReaders>

/** Limits the memory kept for clients that read slowly. Calls `onCut` after disconnecting one. */
export function createReaders(
  maximum: number,
  onCut: (exchange: Exchange, error: ApiError) => void,
) {
  const buffered = new BufferedBytes(maximum)
  return {
    buffered,
    onCut,
    limit: { limit: 'memory for readers', maximum, value: () => buffered.total },
  }
}

export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly connection: Connection
  readonly readers: Readers
  readonly proxies: BlockList | undefined // their `X-Forwarded-…` headers are trusted
  /** Version 4 UUID that identifies this request (spec §1.4). Clients cannot choose it. */
  readonly sessionId: string = randomUUID()
  /** When the request arrived (`performance.now()`), moved forward by the time that it has waited for a change. */
  startedAt = performance.now()
  readonly path: string
  route: Route | undefined
  segment = '' // decoded parameter of the path, such as an item's id
  token: VerifiedToken | undefined
  errorCode: ErrorCode | undefined
  answerError: ((error: ApiError) => void) | undefined // in another format than the interface's
  releaseBody: () => void = () => undefined // called when the response begins; then the body takes no memory
  /** Throws if the store was reset after the request had arrived: the request must then have no effect. */
  requireNoReset: (() => void) | undefined

  constructor(
    response: ServerResponse,
    connection: Connection,
    readers: Readers,
    proxies?: BlockList,
  ) {
    this.request = response.req
    this.response = response
    this.connection = connection
    this.readers = readers
    this.proxies = proxies
    this.path = pathIn(response.req.url ?? '')
  }

  /** Counts memory until the response is closed. Calls `release` if the client is cut off because of the limit. */
  countUntilClosed(memory: ReadMemory, release?: () => void): void {
    const { response, readers } = this
    if (response.destroyed) return // may already be closed
    const { buffered, limit, onCut } = readers
    const isNew = memory.addReader(response, buffered, (bufferedBytes) => {
      const exceeded = { ...limit, value: buffered.total + bufferedBytes }
      const detail = 'A client was disconnected, because it read too slowly'
      onCut(this, new ApiError('SERVICE_UNAVAILABLE', detail, { exceeded }))
      response.destroy()
      release?.()
    })
    if (isNew) response.once('close', () => memory.removeReader(response))
  }
}

export type Handler = (exchange: Exchange) => Awaitable<void>

/** Throws an error to reject a request. */
export type Guard = (exchange: Exchange) => void

export interface Route {
  /** Path such as `/api/v1/items/{item_id}`. Only the last segment can be a parameter. */
  readonly path: string
  readonly guards: readonly Guard[]
  /** Handlers by method. GET serves HEAD too; the router answers all others. */
  readonly handlers: Readonly<Partial<Record<'GET' | 'POST' | 'PUT' | 'DELETE', Handler>>>
}

/** Returns the authority of a request target in absolute form (RFC 9112 §3.2.2); `undefined` for other targets. */
export function authorityIn(target = ''): string | undefined {
  return target.startsWith('/') ? undefined : /^https?:\/\/([^/?#]*)/i.exec(target)?.[1]
}

/** Returns only the path, because authority and query may contain secrets (RFC 9112 §3.2). */
function pathIn(target: string): string {
  const authority = authorityIn(target)
  const rest = authority === undefined ? target : target.replace(/^https?:\/\/[^/?#]*/i, '')
  const end = rest.search(/[?#]/)
  const path = end === -1 ? rest : rest.slice(0, end)
  return path === '' && authority !== undefined ? '/' : path
}
