/** Types of delays, failures and recorded requests, and checks of values that users provide. @module */

import { inspect } from 'node:util'
import { parseDuration } from '../config/kinds.js'
import { UsageError } from '../config/usage-error.js'

/** Range of a random delay in milliseconds, including both ends. */
export interface Delay {
  readonly min: number
  readonly max: number
}

/** How a request fails: with a status, or with `cut`, which closes the connection without a response. */
export type Failure = (typeof kinds)[number]

/** Either the failures of the first requests, in order, or the probability of each failure, from 0 to 1. */
export type Failures = readonly Failure[] | Readonly<Partial<Record<Failure, number>>>

/** Limits failures to requests that match all given members. */
export interface FailureScope {
  /** HTTP method, case-insensitive. */
  readonly method?: string | undefined
  /** Complete path, such as `/api/v1/items`, or a pattern that matches paths. */
  readonly path?: string | RegExp | undefined
}

export interface RecordedRequest {
  readonly method: string
  /** Path of the request without the query, such as `/api/v1/items`. */
  readonly path: string
  /** Status code of the response; `undefined` if the connection was cut. */
  readonly status: number | undefined
  readonly sessionId: string
}

const kinds = [429, 500, 503, 'cut'] as const
const allKinds = kinds.join(', ')
const maxDelay = 60_000

/** Parses a delay such as `200`, `200-800` or `1s-2s`. @throws {UsageError} */
export function parseDelay(text: string): Delay {
  const times = text.split('-').map((time) => parseDuration(time, 'ms') ?? Number.NaN)
  const [min = Number.NaN, max = min] = times
  if (times.length <= 2 && isDelay({ min, max })) return { min, max }
  const expected = `milliseconds such as 200 or 200-800, up to ${maxDelay}`
  throw new UsageError(`--delay is ${JSON.stringify(text)}; expected ${expected}`)
}

export function checkedDelay(given: number | Delay): Delay {
  const delay = typeof given === 'number' ? { min: given, max: given } : given
  if (delay !== null && isDelay(delay)) return delay // JavaScript callers may pass null
  const expected = `milliseconds such as 200 or { min: 200, max: 800 }, up to ${maxDelay}`
  throw new UsageError(`delay is ${inspect(given)}; expected ${expected}`)
}

function isDelay({ min, max }: Delay): boolean {
  return [min, max].every(Number.isInteger) && 0 <= min && min <= max && max <= maxDelay
}

/** Parses failures to inject, such as `503,cut` or `503=0.1,cut=0.05`. @throws {UsageError} */
export function parseFailures(text: string): Failures {
  const entries = text.split(',').map((entry) => entry.split('='))
  const failures = text.includes('=')
    ? Object.fromEntries(entries.map(([name, ...rate]) => [name, Number(rate.join('=') || 'NaN')]))
    : entries.map(([name]) => (name === 'cut' ? name : Number(name)))
  if (areFailures(failures)) return failures
  const expected = `a list such as 503,cut or rates such as 503=0.1,cut=0.05, with ${allKinds}`
  throw new UsageError(`--failures is ${JSON.stringify(text)}; expected ${expected}`)
}

export function checkedFailures(given: Failures): Failures {
  if (areFailures(given)) return given
  const expected = `a list such as [503, 'cut'] or rates such as { 503: 0.1, cut: 0.05 }, with ${allKinds}`
  throw new UsageError(`failures is ${inspect(given)}; expected ${expected}`)
}

export function checkedScope(given: FailureScope): FailureScope {
  const { method, path, ...others } = given
  const isScope =
    Object.keys(others).length === 0 &&
    (method === undefined || typeof method === 'string') &&
    (path === undefined || typeof path === 'string' || path instanceof RegExp)
  if (isScope) return { method: method?.toUpperCase(), path }
  throw new UsageError(
    `the scope is ${inspect(given)}; expected a method, a path, or both, such as { method: 'GET', path: '/api/v1/items' }`,
  )
}

function areFailures(value: unknown): value is Failures {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.every((each) => kinds.includes(each))
  const names = kinds.map(String)
  const areRates = Object.entries(value).every(
    ([name, rate]) => names.includes(name) && typeof rate === 'number' && rate >= 0,
  )
  return areRates && Object.values(value).reduce((sum, rate) => sum + rate, 0) <= 1
}
