/** Log lines about servers: whether they can be reached, and whether they evict items. @module */

import type { Logger } from 'pino'
import { causeOf, NotConnectedError } from './errors.js'

export interface Reachability {
  /** Called when the connection to a server is lost, or an attempt to connect has failed. */
  lost(error: unknown): void
  /** Called when the connection to a server has been made. */
  found(): void
}

/**
 * Time without a further loss until the store counts as back, in milliseconds: while a replica takes over, the
 * servers of a cluster may disagree for a moment.
 */
export const settlingTime = 3_000

/** Logs a line when the store is lost, one for each further cause, and one when it is back. */
export class ReachabilityLog implements Reachability {
  readonly #log: Pick<Logger, 'info' | 'warn'>
  /** Servers and causes that have been logged since the store was back. */
  readonly #logged = new Set<string>()
  /** Runs since a server was found. */
  #settling: NodeJS.Timeout | undefined

  constructor(log: Pick<Logger, 'info' | 'warn'>) {
    this.#log = log
  }

  /** @param server host and port of the lost server of a cluster. */
  lost(error: unknown, server?: string): void {
    clearTimeout(this.#settling)
    this.#settling = undefined
    const cause = reasonOf(error instanceof NotConnectedError ? error.cause : error)
    const line = `${server} ${cause}`
    if (this.#logged.has(line)) return
    const still = this.#logged.size > 0 ? 'still ' : ''
    this.#logged.add(line)
    this.#log.warn({ server, cause }, `the store ${still}cannot be reached`)
  }

  found(): void {
    if (this.#logged.size === 0) return
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined
      this.#logged.clear()
      this.#log.info('the store can be reached again')
    }, settlingTime).unref()
  }
}

/** Returns a text about an error for the log: its code if it has no message, as for a host with several addresses. */
export function reasonOf(error: unknown): string {
  const cause = causeOf(error)
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || ('code' in cause ? String(cause.code) : cause.name)
}

/**
 * Checks the eviction policy after each connect, and logs a warning if it could evict items. Policies for keys with a
 * time to live do no harm, because buckets have none.
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
