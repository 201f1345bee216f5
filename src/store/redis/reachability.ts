/** Logs when a store becomes unreachable or unhealthy, and when it has recovered. @module */

import type { Logger } from 'pino'
import { reasonOf } from './errors.js'

/** How long a store must stay reachable until the log says so, in ms: a failover may break new connections. */
export const settlingTime = 3_000

export type Reachability = ReturnType<typeof createReachabilityLog>

/** @param onLost called whenever a connection is lost or an attempt to connect fails. */
export function createReachabilityLog(
  log: Pick<Logger, 'info' | 'warn'>,
  onLost = () => {},
  [fault, end] = ['cannot be reached', 'can be reached again'],
) {
  const logged = new Set<string>() // by server and cause, since the store was last reported as reachable
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
      log.warn({ server, cause }, `the store ${still}${fault}`)
    },

    found(): void {
      if (logged.size === 0) return
      settling ??= setTimeout(() => {
        settling = undefined
        logged.clear()
        log.info(`the store ${end}`)
      }, settlingTime).unref()
    },
  }
}
