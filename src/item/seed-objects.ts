/**
 * Finds the objects in a seed file: a JSON array of objects, or objects separated by white space, one
 * per line for example. Both `item-store dev --seed` and the import of the items page use it, so it needs
 * nothing that only Node.js has.
 *
 * @module
 */

import { JsonSyntaxError, type Member, skipSpace } from './json-syntax.js'
import { scanText, skipComma, skipValue } from './scan.js'

/** A part of the file, in bytes; the end is exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/**
 * An object in the file, as the fields of an item request (spec §2.2).
 *
 * An object whose only members are `data` and, optionally, `project_id` is already a request. Any other
 * object is the data itself, and its `project_id`, if any, becomes that of the item.
 */
interface SeedObject extends Span {
  readonly data: Span
  readonly projectId: Span | undefined
}

const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const lowerD = 0x64
const lowerP = 0x70
const openBrace = 0x7b
const byteOrderMark = [0xef, 0xbb, 0xbf]
const utf8 = new TextDecoder()

/** The text of a file, without the byte order mark that some editors put at its start. */
export function withoutMark(file: Uint8Array): Uint8Array {
  const isMarked = byteOrderMark.every((byte, at) => file[at] === byte)
  return isMarked ? file.subarray(byteOrderMark.length) : file
}

/**
 * The objects in a file, in order.
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
    const end = skipValue(text, at)
    yield asRequest(text, at, end)
    at = skipSpace(text, end)
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

function asRequest(text: Uint8Array, start: number, end: number): SeedObject {
  const object = text.subarray(start, end)
  const fields: { data?: Span; project_id?: Span } = {}
  let hasOthers = false
  scanText(object, 1, (member) => {
    const name = fieldNamed(object, member)
    if (name === undefined) hasOthers = true
    else fields[name] = { start: start + member.valueStart, end: start + member.valueEnd } // the last one counts
  })
  const { data, project_id: projectId } = fields
  return { start, end, projectId, data: data && !hasOthers ? data : { start, end } }
}

/** The field that a member is, if any. However it is escaped, the name starts with its first letter or a backslash. */
function fieldNamed(object: Uint8Array, { nameStart, nameEnd }: Member) {
  const first = object[nameStart]
  if (first !== lowerD && first !== lowerP && first !== backslash) return undefined
  const name: unknown = JSON.parse(utf8.decode(object.subarray(nameStart - 1, nameEnd + 1)))
  return name === 'data' || name === 'project_id' ? name : undefined
}
