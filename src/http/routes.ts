/** The table of routes, with the guards for load and token. @module */

import type { CurrentSigning, Signing } from '../auth/secret.js'
import { verifyToken } from '../auth/token.js'
import type { Config } from '../config/settings.js'
import { ApiError } from '../interface/errors.js'
import { mcpPath, paths, prefix } from '../interface/paths.js'
import type { NewId } from '../item/id.js'
import type { Limit } from '../memory/shares.js'
import type { ItemStore } from '../store/item-store.js'
import type { ReadBody } from './body.js'
import type { Guard, Handler, Route } from './exchange.js'
import { createHealthCheck } from './health.js'
import { createItemHandlers, createItemOperations } from './items.js'
import { createPageRoutes } from './pages.js'
import type { WaitingReads } from './waiting-reads.js'

export interface RouteParts {
  readonly store: ItemStore
  readonly signing: CurrentSigning
  readonly load: {
    readonly limits: readonly Limit[]
    exceededLimit(): ApiError['exceeded']
  }
  readonly readBody: ReadBody
  readonly waitingReads: WaitingReads
  readonly newId: NewId | undefined
  readonly withFaults: (handle: Handler) => Handler
  /** Returns further routes, which use the given guards, those of item requests. */
  readonly moreRoutes: (guards: readonly Guard[]) => readonly Route[]
}

const scheme = 'bearer ' // in lower case, with the space after it (RFC 6750 §2.1)

/** Returns the routes. The first one that matches a path applies. */
export function createRoutes(config: Config, parts: RouteParts): Route[] {
  const { store, signing, load, readBody, waitingReads, newId, withFaults, moreRoutes } = parts
  /** Rejects requests while a load limit is exceeded, except deletes, which free memory. */
  const refuseOverload: Guard = ({ request }) => {
    const exceeded = load.exceededLimit()
    if (exceeded === undefined || request.method === 'DELETE') return
    throw new ApiError('SERVICE_UNAVAILABLE', 'The service is overloaded', { exceeded })
  }
  const guards = [refuseOverload, createTokenGuard(signing)]
  const operations = createItemOperations(store, waitingReads, config.maxSharedListBytes, newId)
  const items = createItemHandlers(operations, readBody)
  const ofHealth = { GET: createHealthCheck(config.serviceName, parts) }
  const ofItems = { GET: withFaults(items.list), POST: withFaults(items.create) }
  const ofItem = {
    GET: withFaults(items.read),
    PUT: withFaults(items.replace),
    DELETE: withFaults(items.delete),
  }
  let answerMessage: Handler | undefined
  const ofMcp: Handler = async (exchange) => {
    const { createMcpHandler } = await import('./mcp.js')
    answerMessage ??= createMcpHandler(operations, readBody)
    await answerMessage(exchange)
  }
  return [
    { path: prefix + paths.health, guards: [], handlers: ofHealth },
    { path: prefix + paths.items, guards, handlers: ofItems },
    { path: prefix + paths.item, guards, handlers: ofItem },
    ...moreRoutes(guards),
    ...(config.mcp ? [{ path: mcpPath, guards, handlers: { POST: withFaults(ofMcp) } }] : []),
    ...createPageRoutes(config, [refuseOverload], store.guarantees),
  ]
}

/** Requires a valid bearer token (spec §5, RFC 6750 §2.1). @throws {ApiError} with status 401 or 503. */
function createTokenGuard(currentSigning: CurrentSigning): Guard {
  /** Cached until the next microtask, because no secret can change before. Saves 0.8 of 16 µs for a read. */
  let signing: Signing | undefined
  const forget = () => {
    signing = undefined
  }
  return function requireToken(exchange) {
    const token = bearerToken(exchange.request.headers.authorization)
    if (signing === undefined) {
      signing = currentSigning()
      void Promise.resolve().then(forget) // unlike queueMicrotask, no test runner replaces promises
    }
    exchange.token = verifyToken(token, signing)
  }
}

function bearerToken(authorization: string | undefined): string {
  // The scheme is case-insensitive (RFC 9110 §11.1).
  if (authorization?.slice(0, scheme.length).toLowerCase() === scheme)
    return authorization.slice(scheme.length).replace(/^ +/, '')
  const problem = authorization === undefined ? 'missing' : 'not of the form "Bearer <token>"'
  throw new ApiError('MISSING_TOKEN', `The Authorization header is ${problem}`)
}
