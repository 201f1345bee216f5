/**
 * Reads a file of items: a JSON array of objects, or objects one after the other, such as one a line. It
 * is what `item-store dev --seed` accepts.
 *
 * @module
 */

import { isProject, lineAndColumn, noProject, requestBody } from './draft.js'
import { isObjectAt, JsonFault, lastMembers, skipComma, skipSpace, skipValue } from './json-text.js'
import type { Pace } from './pace.js'

/** One item of a file. */
export interface Entry {
  /** The body that creates it. */
  readonly body: string
  /** The line in which it begins, from 1. */
  readonly line: number
}

/**
 * All items of a file.
 * @param pace called after each item, so that the page goes on.
 * @throws {Error} that begins with line and column of what is wrong; nothing has been sent then.
 */
export async function readEntries(bytes: Uint8Array, pace: Pace): Promise<Entry[]> {
  const text = decoded(bytes)
  const entries: Entry[] = []
  let line = 1
  let counted = 0
  try {
    for (const { start, end } of objectsIn(text)) {
      line += text.slice(counted, start).split('\n').length - 1
      counted = start
      entries.push({ body: bodyOf(text.slice(start, end), start), line })
      await pace()
    }
    return entries
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    throw new Error(`${lineAndColumn(text, error.offset)}: ${error.message}`, { cause: error })
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes) // drops a byte order mark
  } catch (error) {
    if (!(error instanceof TypeError)) throw error // too long for a string
    throw new Error('the file is not in UTF-8', { cause: error })
  }
}

interface Span {
  readonly start: number
  readonly end: number
}

function* objectsIn(text: string): Generator<Span, void, void> {
  let at = skipSpace(text, 0)
  const isArray = text.charAt(at) === '['
  if (isArray) at = skipSpace(text, at + 1)
  if (isArray && text.charAt(at) === ']') return checkEnd(text, at + 1)
  for (;;) {
    if (!isObjectAt(text, at)) throw new JsonFault('expected an object', at)
    const end = skipValue(text, at)
    yield { start: at, end }
    at = skipSpace(text, end)
    if (isArray) {
      if (text.charAt(at) === ']') return checkEnd(text, at + 1)
      at = skipComma(text, at)
    } else if (at === text.length) {
      return
    }
  }
}

function checkEnd(text: string, at: number): void {
  const rest = skipSpace(text, at)
  if (rest < text.length) throw new JsonFault('unexpected text after the array', rest)
}

/**
 * An object that has `data` and no other members than `data` and `project_id` is a request already. Of
 * any other, the members become those of the item.
 */
function bodyOf(object: string, offset: number): string {
  const members = lastMembers(object)
  const data = members.get('data')
  const project = members.get('project_id')
  if (project && !isProject(object.slice(project.valueStart, project.end))) {
    throw new JsonFault(noProject, offset + project.valueStart)
  }
  if (data === undefined || members.size > (project === undefined ? 1 : 2))
    return requestBody(object)
  if (!isObjectAt(object, data.valueStart)) {
    throw new JsonFault('data must be an object', offset + data.valueStart)
  }
  return object
}
