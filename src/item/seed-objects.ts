/** Finds the objects in a seed file. The items page runs this module in browsers too. @module */

import { JsonChecker } from './json-checker.js'
import type { Span, Visit } from './json-syntax.js'
import {
  closeBracket,
  comma,
  isNamed,
  JsonSyntaxError,
  openBrace,
  openBracket,
  skipSpace,
} from './json-syntax.js'

const byteOrderMark = [0xef, 0xbb, 0xbf]

/** Removes the byte order mark that some editors write at the start of a file. */
export function withoutMark(file: Uint8Array): Uint8Array {
  const isMarked = byteOrderMark.every((byte, at) => file[at] === byte)
  return isMarked ? file.subarray(byteOrderMark.length) : file
}

const windowBytes = 4 * 1024 // bytes of a long object per slice

/**
 * Yields the objects in a JSON array, or objects separated by white space. In long objects and long white space, yields
 * `undefined` every 4 KiB, so that the caller can pause. @throws {JsonSyntaxError}
 */
export function* seedObjects(text: Uint8Array) {
  let at = yield* afterSpace(text, 0)
  const isArray = text[at] === openBracket
  if (isArray) at = yield* afterSpace(text, at + 1)
  let isOver = isArray && text[at] === closeBracket
  while (!isOver) {
    if (text[at] !== openBrace) throw new JsonSyntaxError('expected an object', at)
    const object = yield* objectAt(text, at)
    yield object
    at = yield* afterSpace(text, object.end)
    isOver = isArray ? text[at] === closeBracket : at === text.length
    if (isArray && !isOver) at = yield* afterComma(text, at)
  }
  const rest = yield* afterSpace(text, at + 1)
  if (rest < text.length) throw new JsonSyntaxError('unexpected text after the array', rest)
}

/**
 * Reads an object. With only `data` and possibly `project_id`, it's an item request (spec §2.2). Any other object is
 * returned as `data`.
 */
function* objectAt(text: Uint8Array, start: number) {
  const fields: { data?: Span; projectId?: Span } = {}
  let hasOthers = false
  const readMember: Visit = (member) => {
    const value = { start: member.valueStart, end: member.valueEnd }
    if (isNamed(text, member, 'data')) fields.data = value
    else if (isNamed(text, member, 'project_id')) fields.projectId = value
    else hasOthers = true
  }
  const checker = new JsonChecker(1, readMember, start)
  const readWindow = () => {
    const from = checker.position
    const to = Math.min(from + windowBytes, text.length)
    return checker.read(text.subarray(from, to), from, to === text.length)
  }
  while (!readWindow()) yield undefined
  const end = checker.position
  const { data, projectId } = fields
  return { start, end, projectId, data: data && !hasOthers ? data : { start, end } }
}

function* afterSpace(text: Uint8Array, start: number) {
  for (let at = start; ; yield undefined) {
    const end = Math.min(at + windowBytes, text.length)
    at = skipSpace(text, at, end)
    if (at < end || end === text.length) return at
  }
}

function* afterComma(text: Uint8Array, at: number) {
  if (text[at] === comma) return yield* afterSpace(text, at + 1)
  const problem = 'expected a comma or "]"'
  throw new JsonSyntaxError(at < text.length ? problem : `${problem}, but the text ends here`, at)
}
