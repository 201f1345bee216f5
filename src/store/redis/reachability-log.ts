/** The lines of the log that say whether the engine can be reached: one for each change. @module */

import type { Logger } from 'pino'
import { causeOf, NotConnectedError } from './errors.js'

export class ReachabilityLog {
  readonly #log: Pick<Logger, 'info' | 'warn'>
  /** The cause that was logged last, until it is found again. */
  #cause: string | undefined
  /** As it was when it was found last. */
  #evictionPolicy: string | undefined

  constructor(log: Pick<Logger, 'info' | 'warn'>) {
    this.#log = log
  }

  lost(error: unknown): void {
    const cause = reasonOf(error instanceof NotConnectedError ? error.cause : error)
    if (cause !== this.#cause) this.#log.warn({ cause }, 'the store cannot be reached')
    this.#cause = cause
  }

  /**
   * Warns, too, of a server that deletes items when it is full. A bucket has no time to live, so that the
   * policies for keys that have one do no harm.
   */
  found(evictionPolicy?: string): void {
    if (this.#cause !== undefined) this.#log.info('the store can be reached again')
    this.#cause = undefined
    if (evictionPolicy?.startsWith('allkeys-') && evictionPolicy !== this.#evictionPolicy) {
      const msg = 'the store deletes items at its maxmemory; set maxmemory-policy noeviction'
      this.#log.warn({ policy: evictionPolicy }, msg)
    }
    this.#evictionPolicy = evictionPolicy
  }
}

/** What may be said of an error. Where a host has several addresses, none of which answers, only the code says why. */
export function reasonOf(error: unknown): string {
  const cause = causeOf(error)
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || ('code' in cause ? String(cause.code) : cause.name)
}
