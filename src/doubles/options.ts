/** Types of delays, failures and recorded requests, and checks of values that users provide. @module */

import { inspect, types } from 'node:util'
import { parseDuration } from '../config/kinds.js'
import { UsageError } from '../config/usage-error.js'
import { withoutTrailingSlash } from '../http/router.js'
import { paths, prefix } from '../interface/paths.js'

/** Range of a random delay in milliseconds, including both ends. */
export interface Delay {
  readonly min: number
  readonly max: number
}

/** How a request fails: with a status, or with `cut`, which closes the connection without a response. */
export type Failure = (typeof kinds)[number]

/** Failures of the first requests, in order, or the probability of each failure, from 0 to 1. */
export type Failures = readonly Failure[] | Readonly<Partial<Record<Failure, number>>>

/** Limits failures or a delay to requests that match all given members. */
export interface RequestScope {
  /** HTTP method, case-insensitive. */
  readonly method?: string | undefined
  /** Complete path, such as `/api/v1/items/:id`. `*` stands for any text, `:id` for a segment. */
  readonly path?: string | RegExp | undefined
}

export interface RecordedRequest {
  readonly method: string
  /** Path without the query, such as `/api/v1/items`. */
  readonly path: string
  /** Query without the question mark, such as `project_id=shop`; may be empty. */
  readonly query: string
  /** Status of the response; `undefined` if the connection was cut. */
  readonly status: number | undefined
  readonly sessionId: string
  /** Body of a create or replace as text, with the option `recordBodies`; otherwise `undefined`. */
  readonly body: string | undefined
}

const kinds = [429, 500, 503, 'cut'] as const
const maxDelay = 60_000

/** Maximum length of a scope's path. Each star makes a pattern slower to compile. */
const maxPath = 200

/** Parses a delay such as `200`, `200-800` or `1s-2s`. @throws {UsageError} */
export function parseDelay(text: string): Delay {
  const times = text.split('-').map((time) => parseDuration(time, 'ms') ?? Number.NaN)
  const [min = Number.NaN, max = min] = times
  const problem = `--delay is ${JSON.stringify(text)}; expected milliseconds such as 200 or 200-800`
  return checkedDelay(times.length > 2 ? Number.NaN : { min, max }, problem)
}

export function checkedDelay(
  given: number | Delay,
  problem = `delay is ${inspect(given)}; expected milliseconds such as 200 or { "min": 200, "max": 800 }`,
): Delay {
  const { min, max } = typeof given === 'number' ? { min: given, max: given } : { ...given }
  const areWhole = [min, max].every(Number.isInteger)
  if (areWhole && 0 <= min && min <= max && max <= maxDelay) return { min, max }
  throw new UsageError(`${problem}, up to ${maxDelay}`)
}

/** Parses failures to inject, such as `503,cut` or `503=0.1,cut=0.05`. @throws {UsageError} */
export function parseFailures(text: string): Failures {
  const entries = text.split(',').map((entry) => entry.split('='))
  const failures = text.includes('=')
    ? Object.fromEntries(entries.map(([name, ...rate]) => [name, Number(rate.join('=') || 'NaN')]))
    : entries.map(([name]) => (name === 'cut' ? name : Number(name)))
  const expected = 'a list such as 503,cut or rates such as 503=0.1,cut=0.05'
  return checkedFailures(failures, `--failures is ${JSON.stringify(text)}; expected ${expected}`)
}

export function checkedFailures(
  given: unknown,
  problem = `failures is ${inspect(given)}; expected a list such as [503, "cut"] or rates such as { "503": 0.1, "cut": 0.05 }`,
): Failures {
  if (areFailures(given)) return given
  throw new UsageError(`${problem}, with ${kinds.join(', ')}`)
}

export type ScopeTest = (method: string, path: string) => boolean

const itemRequests = [
  [prefix + paths.items, ['GET', 'HEAD', 'POST']],
  [prefix + paths.item, ['GET', 'HEAD', 'PUT', 'DELETE']],
] as const

/** Returns a function that tests whether a request is in the scope. @throws {UsageError} if it fits no item request. */
export function scopeTest(scope: RequestScope = {}): ScopeTest {
  const { method, path, ...others } = Object(scope) as RequestScope // values of a wrong type fit no request
  const wanted = typeof method === 'string' ? method.toUpperCase() : method
  const isShort = typeof path === 'string' && path.length <= maxPath
  const pattern = isShort ? patternOf(withoutTrailingSlash(path)) : path
  const isMethod = (one: string) => wanted === undefined || one === wanted
  // A global pattern's `test` would continue after the previous match; `search` doesn't.
  const isPath = (one: string) =>
    pattern === undefined || (types.isRegExp(pattern) && one.search(pattern) >= 0)
  // If `path` matches the path of any item, it also matches that of an item whose id is the last segment of `path`.
  const segment = String(path ?? '').replace(/^.*\/(:(?=\w+$))?|\*/g, '') || 'x'
  const isPossible = itemRequests.some(
    ([itemPath, methods]) =>
      methods.some(isMethod) &&
      (types.isRegExp(path) || isPath(itemPath.replace('{item_id}', segment))),
  )
  if (Object(scope) !== scope || Object.keys(others).length > 0 || !isPossible) {
    const example = `{ "method": "GET", "path": "${prefix}/items/:id" }`
    throw new UsageError(
      `the scope ${inspect(scope)} fits no item request; expected a method, a path of up to ${maxPath} characters, or both, such as ${example}`,
    )
  }
  return (method, path) => isMethod(method) && isPath(path)
}

/** Returns a pattern for a path. `*` stands for any text, `:name` for a whole segment. */
function patternOf(path: string): RegExp {
  const [first, ...others] = path
    .replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&')
    .replaceAll(/(?<=\/):\w+(?=\/|$)/g, '[^/]+')
    .split(/\*+/)
  const last = others.pop()
  // Each part is in a lookahead, into which V8 doesn't backtrack. Otherwise, many `*` could take exponential time.
  const middle = others.map((part, place) => `(?=(.*?${part}))\\${place + 1}`).join('')
  return new RegExp(`^${first}${middle}${last === undefined ? '' : `.*${last}`}$`)
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
