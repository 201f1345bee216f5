/** Generates the table in docs/reference/settings.md from the settings in src, for `npm run docs`. */

import assert from 'node:assert/strict'
import { nameOf, settings } from '../../src/config/settings.js'

/** Defaults that depend on the machine or the command, or that cannot be derived from the code. */
const dependentDefaults: Record<string, string> = {
  MAX_CONNECTIONS: '10000',
  MAX_STORE_BYTES: 'half of memory',
  MAX_MEMORY_BYTES: '9/10 of memory',
  TRUSTED_PROXIES: 'none',
  METRICS_HOST: 'value of `HOST`',
  CONSOLE: 'on in `dev`, otherwise off',
  HOST: '0.0.0.0; 127.0.0.1 in `dev`',
}

export function settingsTable(): string {
  const rows = Object.entries(settings).map(([key, { defaultText, meaning, parse }]) => {
    const name = nameOf(key)
    const words = dependentDefaults[name] ?? defaultText
    assert.ok(words, `${name} has no words for its default`)
    return `| \`${name}\` | ${words} | ${meaning} | ${valuesOf(parse)} |`
  })
  return ['| variable | default | meaning | value |', '|---|---|---|---|', ...rows].join('\n')
}

/** Returns a description of a setting's valid values, taken from the error message for an invalid value. */
function valuesOf(parse: (text: string) => unknown): string {
  try {
    parse('')
  } catch (error) {
    if (error instanceof Error)
      return error.message.replace(/, (?:in bytes or )?with a unit .*/, '')
  }
  throw new Error('a setting has no error for an empty text, from which to take the words')
}
