/** The table of settings in docs/reference/settings.md, made from the one in the code; `npm run docs` writes it. */

import assert from 'node:assert/strict'
import { settings } from '../../src/config/settings.js'

/** Defaults in words: those without a text in the table, or with one that is for this machine or command only. */
const dependentDefaults: Record<string, string> = {
  MAX_CONNECTIONS: '10000',
  MAX_STORE_BYTES: 'half of memory',
  MAX_MEMORY_BYTES: '9/10 of memory',
  STORE_URL: 'process memory',
  TRUSTED_PROXIES: 'none',
  METRICS_HOST: 'value of `HOST`',
  CONSOLE: 'on in `dev`, otherwise off',
  HOST: '0.0.0.0; 127.0.0.1 in `dev`',
}

export function settingsTable(): string {
  const rows = Object.values(settings).map(({ name, defaultText, meaning, parse }) => {
    const words = dependentDefaults[name] ?? defaultText
    assert.ok(words, `${name} has no words for its default`)
    return `| \`${name}\` | ${words} | ${meaning} | ${valuesOf(parse)} |`
  })
  return ['| variable | default | meaning | value |', '|---|---|---|---|', ...rows].join('\n')
}

/** The values that a setting takes, in the words of the error for others. */
function valuesOf(parse: (text: string) => unknown): string {
  try {
    parse('')
  } catch (error) {
    // Units are explained above the table.
    if (error instanceof Error)
      return error.message.replace(/, (?:in bytes or )?with a unit .*/, '')
  }
  throw new Error('a setting that takes an empty text')
}
