/** The lines of the log about the engine: whether it can be reached, and whether it deletes items. @module */

import type { Logger } from 'pino'
import { causeOf, NotConnectedError } from './errors.js'

/** Is told each time that the engine, or a server of it, is lost, cannot be connected to, or is found. */
export interface Reachability {
  lost(error: unknown): void
  found(): void
}

/**
 * How long it has to stay until it counts as back, in milliseconds: while another server takes over, those of a
 * cluster may disagree for a moment on which one it is.
 */
export const settlingTime = 3_000

/** One line when it is lost, one for each further cause while it is, and one when it is back. */
export class ReachabilityLog implements Reachability {
  readonly #log: Pick<Logger, 'info' | 'warn'>
  /** What has been logged since it was found last. */
  readonly #logged = new Set<string>()
  /** Runs from when it was found. */
  #settling: NodeJS.Timeout | undefined

  constructor(log: Pick<Logger, 'info' | 'warn'>) {
    this.#log = log
  }

  /** @param server the one of a cluster that is lost. */
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

/** What may be said of an error. Where a host has several addresses, none of which answers, only the code says why. */
export function reasonOf(error: unknown): string {
  const cause = causeOf(error)
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || ('code' in cause ? String(cause.code) : cause.name)
}

/**
 * Is told the policy of the server at each connection, and warns when it has become one that deletes items. A bucket has
 * no time to live, so that the policies for keys that have one do no harm.
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
