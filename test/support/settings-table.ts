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
  MCP: 'on in `dev`, otherwise off',
  HOST: '0.0.0.0; 127.0.0.1 in `dev`',
}

export function settingsTable(): string {
  const rows = Object.entries(settings).map(([key, { defaultText, meaning }]) => {
    const name = nameOf(key)
    const words = dependentDefaults[name] ?? defaultText
    assert.ok(words, `${name} has no words for its default`)
    return `| \`${name}\` | ${words} | ${meaning} |`
  })
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n')
}
