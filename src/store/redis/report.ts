/** The lines of the log that say whether the engine can be reached: one for each change. @module */

import type { Logger } from 'pino'
import { causeOf } from './failures.js'

export interface Reporter {
  lost(error: unknown): void
  found(): void
}

export function newReporter(log: Pick<Logger, 'info' | 'warn'>): Reporter {
  /** The cause as it was logged last. */
  let logged: string | undefined
  return {
    lost(error) {
      const cause = reasonOf(error)
      if (cause !== logged) log.warn({ cause }, 'the store cannot be reached')
      logged = cause
    },

    found() {
      if (logged !== undefined) log.info('the store can be reached again')
      logged = undefined
    },
  }
}

/** Where a host has several addresses, none of which answers, only the code says why. */
function reasonOf(error: unknown): string {
  const { message, code }: Record<string, unknown> = Object(causeOf(error))
  return String(message || code || error)
}
