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

/**
 * Warns, too, of a server that deletes items when it is full. A bucket has no time to live, so that the
 * policies for keys that have one do no harm.
 * @param evictionPolicy asks the server that can be reached.
 */
export function newServerReporter(
  log: Pick<Logger, 'info' | 'warn'>,
  evictionPolicy: () => Promise<string | undefined>,
): Reporter {
  const { lost, found } = newReporter(log)
  let warned: string | undefined

  async function warnOfEviction(): Promise<void> {
    const policy = await evictionPolicy()
    if (policy?.startsWith('allkeys-') && policy !== warned) {
      const msg = 'the store deletes items at its maxmemory; set maxmemory-policy noeviction'
      log.warn({ policy }, msg)
    }
    warned = policy
  }

  return {
    lost,
    found() {
      found()
      warnOfEviction().catch(() => undefined) // the connection is lost again
    },
  }
}

/** Where a host has several addresses, none of which answers, only the code says why. */
function reasonOf(error: unknown): string {
  const { message, code }: Record<string, unknown> = Object(causeOf(error))
  return String(message || code || error)
}
