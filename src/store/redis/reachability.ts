/** Logs when the servers of a store cannot be reached, and when they can be reached again. @module */

import type { Logger } from 'pino'
import { reasonOf } from './errors.js'

/** Time before the log reports a store as reachable again, in ms. A failover may break new connections. */
export const settlingTime = 3_000

export type Reachability = ReturnType<typeof createReachabilityLog>

/** @param onLost called whenever a connection is lost or an attempt to connect fails. */
export function createReachabilityLog(log: Pick<Logger, 'info' | 'warn'>, onLost = () => {}) {
  /** Failures (server and cause) that were logged since the latest report that the store is reachable again. */
  const logged = new Set<string>()
  let settling: NodeJS.Timeout | undefined

  return {
    lost(error: unknown, server?: string): void {
      onLost()
      clearTimeout(settling)
      settling = undefined
      const cause = reasonOf(error)
      const line = `${server} ${cause}`
      if (logged.has(line)) return
      const still = logged.size > 0 ? 'still ' : ''
      logged.add(line)
      log.warn({ server, cause }, `the store ${still}cannot be reached`)
    },

    found(): void {
      if (logged.size === 0) return
      settling ??= setTimeout(() => {
        settling = undefined
        logged.clear()
        log.info('the store can be reached again')
      }, settlingTime).unref()
    },
  }
}
