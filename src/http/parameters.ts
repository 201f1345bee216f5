/** What item requests ask for in their query and headers: a project, an idempotency key, a wait. @module */

import { ApiError } from '../interface/errors.js'
import type { Exchange } from './exchange.js'

const projectParameter = 'project_id'

/**
 * Returns the parameter `project_id` of the query; `undefined` if there is none. As in forms, a plus sign is a space.
 * @throws {ApiError} `VALIDATION_ERROR` if it is empty, given twice, or not UTF-8.
 */
export function requestedProject({ request }: Exchange): string | undefined {
  const [target = ''] = (request.url ?? '').split('#')
  const start = target.indexOf('?')
  if (start === -1) return undefined
  const [first, ...others] = target
    .slice(start + 1)
    .split('&')
    .flatMap(projectIn)
  if (first === '') throw invalid('must have at least 1 character')
  if (others.length > 0) throw invalid('must be given once')
  return first
}

/** Returns the value in an array, which is empty for other parameters. */
function projectIn(parameter: string): string[] {
  const end = parameter.includes('=') ? parameter.indexOf('=') : parameter.length
  if (end < projectParameter.length || decoded(parameter.slice(0, end)) !== projectParameter)
    return []
  const value = decoded(parameter.slice(end + 1))
  if (value === undefined) throw invalid('must be UTF-8, percent-encoded')
  return [value]
}

/** Returns `undefined` for what is not UTF-8, percent-encoded. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function invalid(problem: string): ApiError {
  return new ApiError('VALIDATION_ERROR', `Invalid query: ${projectParameter} ${problem}`)
}

/** 1 to 255 visible characters of ASCII, or a string of Structured Fields around them (RFC 9651 §3.3.3). */
const bareKey = /^[\x21-\x7e]{1,255}$/
const quotedKey = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/**
 * Returns the name of an item in the namespace of its store, made of caller and `Idempotency-Key`
 * (draft-ietf-httpapi-idempotency-key-header-07). The id follows from the name, so a create that is sent again makes no
 * second item, and nothing has to be remembered.
 * @returns `undefined` for a request without a key.
 * @throws {ApiError} `BAD_REQUEST` for a value that is not a key.
 */
export function keyedName({ request, token }: Exchange): string | undefined {
  const text = request.headers['idempotency-key']?.toString()
  if (text === undefined) return undefined
  const key = text.startsWith('"') ? quotedKey.exec(text)?.[1]?.replace(/\\(.)/g, '$1') : text
  if (key === undefined || !bareKey.test(key)) {
    throw new ApiError('BAD_REQUEST', 'Idempotency-Key is not 1 to 255 visible ASCII characters')
  }
  return JSON.stringify([token?.sub, key])
}

/** Longest time that a read waits, in seconds: proxies give up soon after. */
const maxWait = 60

/** Preferences before another one, separated by commas, which strings in quotes may contain (RFC 7240 §2). */
const others = /^(?:(?:[^",]|"(?:[^"\\]|\\.)*")*,)*?/
const waitPreference = new RegExp(
  `${others.source}[ \\t]*wait[ \\t]*=[ \\t]*(?:(\\d+)|"(\\d+)")[ \\t]*(?:[,;]|$)`,
  'i',
)

/** Returns the first preferred wait (`Prefer: wait`, RFC 7240 §4.3) in whole seconds; 0 for none. */
export function preferredWait({ request }: Exchange): number {
  const [, bare, quoted] = waitPreference.exec(request.headers.prefer?.toString() ?? '') ?? []
  return Math.min(Number(bare ?? quoted ?? 0), maxWait)
}
