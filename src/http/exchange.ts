/** Exchanges (a request with its response), and routes. @module */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BlockList } from 'node:net'
import type { VerifiedToken } from '../auth/secret.js'
import { ApiError, type ErrorCode } from '../interface/errors.js'
import { newUuid } from '../item/id.js'
import { BufferedBytes } from '../listener/buffered-bytes.js'
import type { Connection } from '../listener/connection.js'
import { performance } from '../listener/timers.js'
import { ReadMemory } from '../memory/read-memory.js'
import type { Awaitable } from '../store/item-store.js'

type Readers = ReturnType<typeof createReaders>

/** Limits the memory kept for clients that read slowly. `onCut` is called when one of them has been disconnected. */
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
  /** Proxies whose `X-Forwarded-…` headers are trusted. */
  readonly proxies: BlockList | undefined
  /** Version 4 UUID that identifies this request (spec §1.4). Clients cannot choose it. */
  readonly sessionId: string = newUuid()
  /** Time when the request arrived (`performance.now()`), plus the time it spent waiting for a change. */
  startedAt = performance.now()
  readonly path: string
  route: Route | undefined
  /** Decoded variable segment of the request path, such as an item's id. */
  segment = ''
  token: VerifiedToken | undefined
  errorCode: ErrorCode | undefined
  /** Answers an error in another format than that of the interface. */
  answerError: ((error: ApiError) => void) | undefined
  /** Called when the response begins: from then on, the request's body takes no memory. */
  releaseBody: () => void = () => undefined
  /** Throws if the embedded store has been reset since the request arrived. The request must then have no effect. */
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

  /** Counts memory until the response is closed. If the limit is exceeded, cuts the response and calls `release`. */
  accountFor(memory: ReadMemory, release?: () => void): void {
    const { response, readers } = this
    if (response.destroyed) return // it may have been closed already
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

  /** Called by `Batch` for text that the client has not taken at once. */
  unsent(bytes: number): void {
    this.accountFor(new ReadMemory(bytes))
  }
}

export type Handler = (exchange: Exchange) => Awaitable<void>

/** Checks a request, and throws an error to reject it. */
export type Guard = (exchange: Exchange) => void

export interface Route {
  /** Path such as `/api/v1/items/{item_id}`. Only the last segment can be a parameter. */
  readonly path: string
  readonly guards: readonly Guard[]
  /** Handlers by HTTP method. The GET handler also handles HEAD. The router answers all other methods. */
  readonly handlers: Readonly<Partial<Record<'GET' | 'POST' | 'PUT' | 'DELETE', Handler>>>
}

/** Returns the authority of a request target in absolute form (RFC 9112 §3.2.2); `undefined` for other targets. */
export function authorityIn(target = ''): string | undefined {
  return target.startsWith('/') ? undefined : /^https?:\/\/([^/?#]*)/i.exec(target)?.[1]
}

/** Returns only the path of a request target (RFC 9112 §3.2), because authority and query may contain secrets. */
function pathIn(target: string): string {
  const authority = authorityIn(target)
  const rest = authority === undefined ? target : target.replace(/^https?:\/\/[^/?#]*/i, '')
  const end = rest.search(/[?#]/)
  const path = end === -1 ? rest : rest.slice(0, end)
  return path === '' && authority !== undefined ? '/' : path
}
