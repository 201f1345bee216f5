/**
 * Finds the objects in a seed file: a JSON array of objects, or objects separated by white space, such as one per
 * line. The items page in a browser uses this file too, so this file uses no API that only Node.js has.
 *
 * @module
 */

import { JsonChecker } from './json-checker.js'
import {
  closeBracket,
  comma,
  isNamed,
  JsonSyntaxError,
  openBrace,
  openBracket,
  type Span,
  skipSpace,
  type Visit,
} from './json-syntax.js'

/**
 * An object in a seed file, with the positions of the fields of an item request (spec §2.2).
 *
 * An object is an item request if its only members are `data` and, optionally, `project_id`. Any other object is the
 * `data` of a request. A `project_id` in such an object becomes the project of the item.
 */
interface SeedObject extends Span {
  readonly data: Span
  readonly projectId: Span | undefined
}

const byteOrderMark = [0xef, 0xbb, 0xbf]

/** Returns a file without the byte order mark that some editors put at its start. */
export function withoutMark(file: Uint8Array): Uint8Array {
  const isMarked = byteOrderMark.every((byte, at) => file[at] === byte)
  return isMarked ? file.subarray(byteOrderMark.length) : file
}

/**
 * Yields the objects in a seed file, in order.
 * @param text JSON text in UTF-8, without a byte order mark.
 * @throws {JsonSyntaxError} at the first position where the text is not a seed file.
 */
export function* seedObjects(text: Uint8Array): Generator<SeedObject, void, void> {
  let at = skipSpace(text, 0)
  const isArray = text[at] === openBracket
  if (isArray) at = skipSpace(text, at + 1)
  if (isArray && text[at] === closeBracket) return checkEnd(text, at + 1)
  for (;;) {
    if (text[at] !== openBrace) throw new JsonSyntaxError('expected an object', at)
    const object = objectAt(text, at)
    yield object
    at = skipSpace(text, object.end)
    if (isArray) {
      if (text[at] === closeBracket) return checkEnd(text, at + 1)
      at = skipComma(text, at)
    } else if (at === text.length) {
      return
    }
  }
}

function checkEnd(text: Uint8Array, at: number): void {
  const rest = skipSpace(text, at)
  if (rest < text.length) throw new JsonSyntaxError('unexpected text after the array', rest)
}

function objectAt(text: Uint8Array, start: number): SeedObject {
  const fields: { data?: Span; projectId?: Span } = {}
  let hasOthers = false
  const readMember: Visit = ({ nameStart, nameEnd, valueStart, valueEnd }) => {
    const value = { start: valueStart, end: valueEnd }
    // If a field is repeated, its last occurrence counts.
    if (isNamed(text, nameStart, nameEnd, 'data')) fields.data = value
    else if (isNamed(text, nameStart, nameEnd, 'project_id')) fields.projectId = value
    else hasOthers = true
  }
  const checker = new JsonChecker(1, readMember, start)
  checker.read(text, 0, true)
  const end = checker.position
  const { data, projectId } = fields
  return { start, end, projectId, data: data && !hasOthers ? data : { start, end } }
}

function skipComma(text: Uint8Array, at: number): number {
  if (text[at] === comma) return skipSpace(text, at + 1)
  const problem = 'expected a comma or "]"'
  throw new JsonSyntaxError(at < text.length ? problem : `${problem}, but the text ends here`, at)
}
