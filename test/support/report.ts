/** Command-line options and output of the long checks. */

import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'

export function numbers<Name extends string>(
  defaults: Readonly<Record<Name, number>>,
): Record<Name, number> {
  const entries = Object.entries(defaults).map(([name, value]) => {
    return [name, { type: 'string', default: String(value) }] as const
  })
  const { values } = parseArgs({ options: Object.fromEntries(entries) })
  const numbers = Object.entries(values).map(([name, text]) => [name, Number(text)] as const)
  for (const [name, number] of numbers) assert.ok(number > 0, `--${name} is not above 0`)
  return Object.fromEntries(numbers) as Record<Name, number> // the names are the keys of `defaults`
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
