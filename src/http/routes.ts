/** The table of routes. @module */

import type { CurrentSigning } from '../auth/secret.js'
import type { Config } from '../config/settings.js'
import type { ExceededLimit } from '../interface/errors.js'
import { documentPath, paths, prefix } from '../interface/paths.js'
import type { NewId } from '../item/id.js'
import type { ItemStore } from '../store/item-store.js'
import { createBodyReader } from './body.js'
import { createDocumentHandler } from './document.js'
import type { Handler, Route } from './exchange.js'
import { createLoadGuard, createTokenGuard } from './guards.js'
import { createHealthCheck } from './health.js'
import { createItemHandlers } from './items.js'
import { createPageRoutes } from './pages.js'
import { SharedLists } from './shared-lists.js'
import type { WaitingReads } from './waiting-reads.js'

export interface RouteParts {
  readonly store: ItemStore
  /** Returns the keys that sign and verify tokens now. */
  readonly signing: CurrentSigning
  readonly load: {
    /** Returns the limit that the process exceeds, if any. */
    exceededLimit(): ExceededLimit | undefined
    /** Called with the number of bytes of bodies that have been received or discarded. */
    bodyReceived(bytes: number): void
  }
  readonly waitingReads: WaitingReads
  /** Makes the ids of new items; `undefined` for random ones. */
  readonly newId: NewId | undefined
  /** Wraps the handlers of items. */
  readonly wrap: (handle: Handler) => Handler
}

/** Returns the routes. If several match a path, the first one counts. */
export function createRoutes(
  config: Config,
  { store, signing, load, waitingReads, newId, wrap }: RouteParts,
): Route[] {
  const refuseOverload = createLoadGuard(load.exceededLimit)
  const guards = [refuseOverload, createTokenGuard(signing)]
  const items = createItemHandlers(
    store,
    createBodyReader(config, load.bodyReceived),
    waitingReads,
    new SharedLists(store, config.maxSharedListBytes),
    newId,
  )
  const checkHealth = createHealthCheck(config.serviceName, store, signing, load.exceededLimit)
  const document: Route = {
    path: documentPath,
    guards: [refuseOverload],
    handlers: { GET: createDocumentHandler(config, store.guarantees) },
  }
  return [
    { path: prefix + paths.health, guards: [], handlers: { GET: checkHealth } },
    {
      path: prefix + paths.items,
      guards,
      handlers: { GET: wrap(items.list), POST: wrap(items.create) },
    },
    {
      path: prefix + paths.item,
      guards,
      handlers: { GET: wrap(items.read), PUT: wrap(items.replace), DELETE: wrap(items.delete) },
    },
    ...(config.docs ? [document] : []),
    ...createPageRoutes(config, [refuseOverload]),
  ]
}
