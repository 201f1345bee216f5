/** Variables of the environment that look like settings, but are none. @module */

import { nearest } from './flags.js'
import { settings } from './settings.js'

/** What programs call variables that are only for this service. Settings have no such prefix. */
const ownPrefix = /^ITEM_(?:STORE_)?/

/**
 * A warning for each variable that was most likely meant to be a setting. Only names that begin with `STORE_` or
 * `ITEM_` are looked at: others may belong to any program.
 */
export function unknownNameWarnings(env: NodeJS.ProcessEnv = process.env): string[] {
  const known = Object.values(settings).map(({ name }) => name)
  return Object.keys(env)
    .filter((name) => /^(?:STORE|ITEM)_/.test(name) && !known.includes(name))
    .flatMap((name) => {
      const guesses = [name, name.replace('ITEM_', ''), name.replace(ownPrefix, '')]
      const meant =
        guesses.find((guess) => known.includes(guess)) ??
        guesses.map((guess) => nearest(guess, known)).find((guess) => guess !== undefined)
      return meant === undefined ? [] : [`${name} is not a setting; did you mean ${meant}?`]
    })
}
