/** The limit on memory for clients that read slowly. @module */

import { ApiError } from '../interface/errors.js'
import { HeldBytes } from '../listener/held-bytes.js'
import type { Exchange } from './exchange.js'
import type { createFailureLog } from './request-log.js'

export function createReaders(
  maximum: number,
  { logFailure }: ReturnType<typeof createFailureLog>,
) {
  const held = new HeldBytes(maximum)
  const limit = { limit: 'memory for readers', maximum, value: () => held.total }
  return {
    held,
    limit,
    onCut(exchange: Exchange, heldBytes: number): void {
      const exceeded = { ...limit, value: held.total + heldBytes }
      const detail = 'A client was disconnected, because it read too slowly'
      logFailure(exchange, new ApiError('SERVICE_UNAVAILABLE', detail, { exceeded }))
    },
  }
}
