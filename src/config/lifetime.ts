/** Lifetimes of tokens as people type them. @module */

import { parseDuration } from './units.js'
import { UsageError } from './usage-error.js'

/**
 * A lifetime in seconds.
 * @param label what the text is called where it was given.
 * @throws {UsageError}
 */
export function parseLifetime(text: string, label: string): number {
  const seconds = (parseDuration(text) ?? 0) / 1000
  if (Number.isInteger(seconds) && seconds > 0) return seconds
  throw new UsageError(
    `${label} is ${JSON.stringify(text)}; expected a time such as 90s, 15m, 1h or 7d`,
  )
}
