/** Parses `project_id`, `Idempotency-Key` and `Prefer: wait` of item requests. @module */

import { ApiError } from '../interface/errors.js'
import type { Exchange } from './exchange.js'

const projectParameter = 'project_id'

/** @throws {ApiError} `VALIDATION_ERROR` if `project_id` is empty, given more than once, or not UTF-8. */
export function requestedProject({ request }: Exchange): string | undefined {
  if (!request.url?.includes('?')) return undefined
  // A plus sign in a query stands for a space, as in HTML forms.
  const [first, ...others] = queryOf(request).replaceAll('+', ' ').split('&').flatMap(projectIn)
  if (first === '') throw invalid('must have at least 1 character')
  if (others.length > 0) throw invalid('must be given once')
  return first
}

/** Returns the query without its question mark; may be empty. */
export function queryOf({ url = '' }: Exchange['request']): string {
  return /^[^?#]*\?([^#]*)/.exec(url)?.[1] ?? ''
}

function projectIn(parameter: string): string[] {
  const end = parameter.includes('=') ? parameter.indexOf('=') : parameter.length
  if (end < projectParameter.length || decoded(parameter.slice(0, end)) !== projectParameter)
    return []
  const value = decoded(parameter.slice(end + 1))
  if (value === undefined) throw invalid('must be UTF-8, percent-encoded')
  return [value]
}

export function decoded(text: string, decode = decodeURIComponent): string | undefined {
  try {
    return decode(text)
  } catch {
    return undefined
  }
}

function invalid(problem: string): ApiError {
  return new ApiError('VALIDATION_ERROR', `Invalid query: ${projectParameter} ${problem}`)
}

/** An `Idempotency-Key` is visible ASCII, or a quoted string (RFC 9651 §3.3.3). */
const bareKey = /^[\x21-\x7e]{1,255}$/
const quotedKey = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/**
 * Returns a name made of the caller and the `Idempotency-Key`, from which the new item's id is derived. A repeated
 * create gets the same id, so no keys are stored (draft-ietf-httpapi-idempotency-key-header-07).
 * @throws {ApiError} `BAD_REQUEST` if the key is malformed.
 */
export function keyedName({ token }: Exchange, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const key = text.startsWith('"') ? quotedKey.exec(text)?.[1]?.replace(/\\(.)/g, '$1') : text
  if (key === undefined || !bareKey.test(key)) {
    throw new ApiError('BAD_REQUEST', 'Idempotency-Key is not 1 to 255 visible ASCII characters')
  }
  return JSON.stringify([token?.sub, key])
}

/** Longest wait for a change, in seconds. Many proxies time out after a minute. */
export const maxWait = 60

/** Matches a `Prefer` header up to its `wait`. Quoted strings may contain commas (RFC 7240 §2). */
const waitPreference =
  /^(?:(?:[^",]|"(?:[^"\\]|\\.)*")*,)*?[ \t]*wait[ \t]*=[ \t]*(?:(\d+)|"(\d+)")[ \t]*(?:[,;]|$)/i

/** Returns the `wait` preference in seconds, at most `maxWait`; 0 if there is none (RFC 7240 §4.3). */
export function preferredWait({ request }: Exchange): number {
  const [, bare, quoted] = waitPreference.exec(request.headers.prefer?.toString() ?? '') ?? []
  return Math.min(Number(bare ?? quoted ?? 0), maxWait)
}
