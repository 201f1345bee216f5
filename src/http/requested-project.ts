/** The project whose items a list is asked for (interface §4.2). @module */

import { ApiError } from '../interface/errors.js'
import type { Exchange } from './exchange.js'

const name = 'project_id'

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
  if (end < name.length || decoded(parameter.slice(0, end)) !== name) return []
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
  return new ApiError('VALIDATION_ERROR', `Invalid query: ${name} ${problem}`)
}
