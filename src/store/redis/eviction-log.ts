/** Warns of a server that deletes items when it is full. @module */

import type { Logger } from 'pino'

/**
 * Is told the policy at each connection, and warns when it has become one that deletes. A bucket has no time
 * to live, so that the policies for keys that have one do no harm.
 */
export function createEvictionLog(log: Pick<Logger, 'warn'>): (policy: string | undefined) => void {
  let last: string | undefined
  return (policy) => {
    if (policy?.startsWith('allkeys-') && policy !== last) {
      log.warn(
        { policy },
        'the server deletes items once it reaches maxmemory; set maxmemory-policy noeviction',
      )
    }
    last = policy
  }
}
