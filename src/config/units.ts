/** Sizes and times as people type them: `16MB`, `512MiB`, `90s`. @module */

import { UsageError } from './usage-error.js'

const sizes: Record<string, number> = {
  b: 1,
  ...{ k: 1e3, m: 1e6, g: 1e9, t: 1e12 },
  ...{ kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 },
  ...{ kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3, tib: 1024 ** 4 },
}

/** The units that sizes are shown in, each with its number of bytes; binary ones first. */
const shownSizes = ['TiB', 'GiB', 'MiB', 'KiB', 'TB', 'GB', 'MB', 'kB'].map(
  (unit) => [unit, sizes[unit.toLowerCase()] ?? 1] as const,
)

const durations: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/**
 * A size in bytes: a whole number, with a decimal (`MB`, or `M` for short) or binary (`MiB`) unit in
 * any letter case.
 * @returns `undefined` if the text is not a size.
 */
export function parseSize(text: string): number | undefined {
  return parseAmount(text.toLowerCase(), sizes, 'b')
}

/**
 * A size as it can be typed: in the largest unit that gives a whole number, or in bytes.
 * @param bytes a whole number.
 */
export function formatSize(bytes: number): string {
  const [unit, size] = shownSizes.find(([, size]) => bytes >= size && bytes % size === 0) ?? ['', 1]
  return `${bytes / size}${unit}`
}

/**
 * A time in milliseconds: a whole number with one of the units `ms`, `s`, `m`, `h` and `d`.
 * @param plainUnit the unit of a number without one; if omitted, such a number is not a time.
 * @returns `undefined` if the text is not a time.
 */
export function parseDuration(text: string, plainUnit?: 'ms' | 's'): number | undefined {
  return parseAmount(text, durations, plainUnit)
}

/**
 * A lifetime of a token in seconds.
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

function parseAmount(
  text: string,
  units: Record<string, number>,
  plainUnit = '',
): number | undefined {
  const [, number = '', unit = ''] = /^(\d+)([a-z]*)$/.exec(text) ?? []
  const amount = Number(number || Number.NaN) * (units[unit || plainUnit] ?? Number.NaN)
  return Number.isSafeInteger(amount) ? amount : undefined
}
