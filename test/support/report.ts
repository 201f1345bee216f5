/** Command-line options and output of the long checks. */

import { parseArgs } from 'node:util'

/** @throws {Error} unless each number is above 0. */
export function numbers<Name extends string>(
  defaults: Readonly<Record<Name, number>>,
): Record<Name, number> {
  const entries = Object.entries(defaults).map(([name, value]) => {
    return [name, { type: 'string', default: String(value) }] as const
  })
  const { values } = parseArgs({ options: Object.fromEntries(entries) })
  return Object.fromEntries(
    Object.entries(values).map(([name, text]) => [name, positive(name, String(text))]),
  ) as Record<Name, number> // the names are the keys of `defaults`
}

/** @throws {Error} unless the number is above 0. */
export function positive(name: string, text: string): number {
  const number = Number(text)
  if (number > 0) return number
  throw new Error(`--${name} is "${text}"; expected a number above 0`)
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
