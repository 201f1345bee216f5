/**
 * Turns the body of a request into the text of the item, verbatim.
 *
 * The body is checked as it arrives. What the client wrote as a member of `data` becomes, byte for byte, a member
 * of the item; no value is parsed and written again, so no number is rounded, no name reordered, no escape
 * changed.
 *
 * @module
 */

import { isUtf8 } from 'node:buffer'
import { GenericRequest, type Issue } from '../interface/models.js'
import { isMapped } from '../memory/mapped.js'
import { keptMembers, MemberRecord, type Members } from './data-members.js'
import { JsonChecker } from './json-checker.js'
import {
  isNamed,
  JsonSyntaxError,
  lowerF,
  lowerN,
  lowerT,
  type Member,
  openBrace,
  openBracket,
  quote,
} from './json-syntax.js'
import { maxNamedText } from './names.js'
import { Place } from './scan.js'
import { atOnce, type Slices } from './slices.js'

/** A valid request, as the pieces of text that the item is made of. */
export interface ItemRequest {
  /** The text of `project_id`: a JSON string as it was sent, or `null`. */
  readonly projectId: Buffer
  /** The text of the members of `data` that the item keeps, in order, separated by commas. */
  readonly members: Buffer
}

/** The body is not an item request. The message tells the client what is wrong and where. */
export class InvalidItemError extends Error {
  override readonly name = 'InvalidItemError'
}

const { validate } = GenericRequest['~standard']

const nullText = Buffer.from('null')
const nothing: Buffer = Buffer.alloc(0)

/** A body of which some has arrived. */
export interface ArrivingBody {
  /** Memory whose first `length` bytes have arrived. It may become another one when more arrives. */
  readonly bytes: Buffer
  readonly length: number
  /** Whether that is all. */
  readonly isComplete: boolean
  /** Called with the memory that the work on it takes at the moment, in bytes. Throws if that is too much. */
  hold(bytes: number): void
}

/** The `data` or `project_id` of a request, as positions in the body. */
interface Field {
  readonly start: number
  readonly end: number
  /** The members of its value, if that is an object. */
  readonly members: Members
}

/** Bytes that are checked in one slice: less than a millisecond, whatever they are. */
export const windowBytes = 16 * 1024

/** Bytes of the first slice. Later ones are longer: the first 16 KiB take 9 ms, because V8 has not compiled the code yet. */
const firstWindow = 1024

/** V8 takes longer to read memory that can be resized: from a copy then. */
const windowCopy = Buffer.allocUnsafeSlow(windowBytes)

/** Reads the text of a request, and finds its fields. */
class RequestCheck {
  readonly checker = new JsonChecker(2, (member, depth) => this.#visit(member, depth))
  readonly #members = new MemberRecord()
  #data: Field | undefined
  #projectId: Field | undefined
  /** What is being read, and a part of it with its position. */
  #body = nothing
  #window = nothing
  #base = 0

  /**
   * Has the body checked up to a position, or up to the first byte that is wrong, be it in UTF-8 or JSON.
   * @param isLast whether the body ends there.
   */
  read(body: Buffer, end: number, isLast: boolean): void {
    const { position } = this.checker
    let window = body
    if (isMapped(body)) {
      body.copy(windowCopy, 0, position, end)
      window = windowCopy.subarray(0, end - position)
    } else if (position > 0 || end < body.length) {
      window = body.subarray(position, end)
    }
    if (!isLast) window = window.subarray(0, incompleteEnd(window))
    const isText = isUtf8(window)
    if (!isText) window = window.subarray(0, firstInvalid(window))
    this.#body = body
    this.#window = window
    this.#base = position
    this.checker.read(window, position, isLast && isText)
    if (window.buffer !== body.buffer && this.#members.hasMarked) window.copy(body, position)
    this.#members.hasMarked = false
    this.#body = nothing
    this.#window = nothing
    if (!isText) throw new InvalidItemError('The body is not valid UTF-8')
  }

  #visit(member: Member, depth: number): void {
    const body = this.#body
    if (depth === 2) {
      this.#members.add(body, this.#window, this.#base, member)
      return
    }
    const { nameStart, nameEnd, valueStart: start, valueEnd: end } = member
    const field = { start, end, members: this.#members.take() }
    // The last one counts.
    if (isNamed(body, nameStart, nameEnd, 'data')) this.#data = field
    else if (isNamed(body, nameStart, nameEnd, 'project_id')) this.#projectId = field
  }

  /** The fields of a complete body. @throws {InvalidItemError} if they do not meet spec §2.2. */
  fields(body: Buffer): { readonly projectId: Buffer; readonly members: Members } {
    if (body[this.checker.start] !== openBrace) throw invalid('the body must be an object')
    const data = this.#data
    const projectId = this.#projectId
    // The schema gets only what it checks; nothing is ever parsed.
    const outlines: { data?: unknown; project_id?: unknown } = {}
    if (data !== undefined) outlines.data = outline(body, data.start)
    if (projectId !== undefined) outlines.project_id = outline(body, projectId.start)
    const result = validate(outlines)
    if ('issues' in result && result.issues) throw invalid(firstOf(result.issues))
    if (data === undefined) throw new Error('the check and the schema disagree on data')
    return {
      projectId: projectId === undefined ? nullText : body.subarray(projectId.start, projectId.end),
      members: data.members,
    }
  }

  /** Makes it ready for another body. */
  reset(): void {
    this.#data = undefined
    this.#projectId = undefined
    this.#members.take()
    this.checker.reset()
  }
}

/** Checks all short bodies: to make a check takes longer than to check a body. */
const shortCheck = new RequestCheck()

/**
 * Checks the body of a create or replace.
 * @param body JSON text in UTF-8, which may be changed.
 * @throws {InvalidItemError} if it is not JSON, or does not meet spec §2.2.
 */
export function parseItemRequest(body: Buffer): ItemRequest {
  if (body.length === 0 || body.length > windowBytes) {
    const arrived = { bytes: body, length: body.length, isComplete: true, hold: () => undefined }
    return atOnce(readItemRequest(arrived))
  }
  shortCheck.reset()
  try {
    shortCheck.read(body, body.length, true)
  } catch (error) {
    throw atOnce(withPlace(error, body))
  }
  const { projectId, members } = shortCheck.fields(body)
  const { start, end } = members.areMarked
    ? atOnce(keptMembers(body, members, () => undefined))
    : members
  return { projectId, members: body.subarray(start, end) }
}

/**
 * Does the same for a body that is still arriving. Once it is known to be wrong, this fails; the rest may not have arrived.
 * @returns views of the body.
 */
export function* readItemRequest(body: ArrivingBody): Slices<ItemRequest> {
  const check = new RequestCheck()
  const { checker } = check
  if (body.length > maxNamedText) throw invalid('it is longer than 128 MiB')
  for (let isLast = false; !isLast; ) {
    const { position } = checker
    const length = Math.min(windowBytes, firstWindow + (position >> 1))
    const end = Math.min(body.length, position + length)
    isLast = body.isComplete && end === body.length
    if (end === 0 && isLast) throw new InvalidItemError('The body is empty; expected a JSON object')
    try {
      check.read(body.bytes, end, isLast)
    } catch (error) {
      throw yield* withPlace(error, body.bytes)
    }
    if (isLast) break
    body.hold(checker.stack.byteLength)
    yield end === body.length ? 'waiting' : undefined
  }
  const { bytes } = body
  const { projectId, members } = check.fields(bytes)
  const { start, end } = yield* keptMembers(bytes, members, body.hold)
  return { projectId, members: bytes.subarray(start, end) }
}

/** Returns the error of a body that is not JSON, with line and column of what is wrong; any other as it is. */
function* withPlace(error: unknown, body: Buffer): Slices<unknown> {
  if (!(error instanceof JsonSyntaxError)) return error
  const { offset, message } = error
  const place = new Place()
  for (let start = 0; start < offset; start += windowBytes) {
    if (start > 0) yield
    const length = body.copy(windowCopy, 0, start, Math.min(start + windowBytes, offset))
    place.pass(windowCopy.subarray(0, length))
  }
  return new InvalidItemError(`The body is not valid JSON: ${place}: ${message}`)
}

function invalid(what: string): InvalidItemError {
  return new InvalidItemError(`Invalid item request: ${what}`)
}

/** The first issue that the schema found, after the name of its field. */
function firstOf([first]: readonly Issue[]): string {
  const names = first?.path?.map((part) => (typeof part === 'object' ? part.key : part))
  return `${names?.join('.')} ${first?.message}`
}

/** As much of a value as the schema needs: its type, and whether a string is empty. */
function outline(text: Buffer, start: number): unknown {
  const first = text[start]
  if (first === openBrace) return {}
  if (first === openBracket) return []
  if (first === quote) return text[start + 1] === quote ? '' : 'x'
  if (first === lowerN) return null
  return first === lowerT || first === lowerF ? first === lowerT : 0
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Position of the first byte that is not UTF-8: the first that decoding and encoding changes. */
export function firstInvalid(bytes: Uint8Array): number {
  return Buffer.from(decoder.decode(bytes)).findIndex((byte, at) => byte !== bytes[at])
}

/** The end of the bytes without a last character that is cut short. */
function incompleteEnd(bytes: Uint8Array): number {
  for (let length = 1; length < 4 && length <= bytes.length; length += 1) {
    const byte = bytes[bytes.length - length] as number // within the bytes
    if (byte < 0x80) break
    if (byte >= 0xc0) {
      const needed = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
      return length < needed ? bytes.length - length : bytes.length
    }
  }
  return bytes.length
}
