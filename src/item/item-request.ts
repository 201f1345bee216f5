/** Checks the body of a create or replace request while the body arrives, without parsing any values. @module */

import { isUtf8 } from 'node:buffer'
import { GenericRequest, type Issue } from '../interface/models.js'
import { isMapped } from '../memory/mapped.js'
import { keptMembers, MemberRecord, type Members } from './data-members.js'
import { JsonChecker } from './json-checker.js'
import type { Member, Span } from './json-syntax.js'
import {
  isNamed,
  JsonSyntaxError,
  lowerF,
  lowerN,
  lowerT,
  openBrace,
  openBracket,
  quote,
} from './json-syntax.js'
import { maxNamedText } from './names.js'
import { Place } from './scan.js'
import { atOnce, type Slices } from './slices.js'

export interface ItemRequest {
  /** JSON text of the project id: a string or `null`. */
  readonly projectId: Buffer
  /** JSON text of the members that the item keeps, in their original order, separated by commas. */
  readonly members: Buffer
}

export class InvalidItemError extends Error {
  override readonly name = 'InvalidItemError'
}

const { validate } = GenericRequest['~standard']

const nullText = Buffer.from('null')
const nothing: Buffer = Buffer.alloc(0)

export interface ArrivingBody {
  /** Buffer whose first `length` bytes have arrived. A longer buffer may replace it later. */
  readonly bytes: Buffer
  readonly length: number
  readonly isComplete: boolean
  /** Called with the memory that the check of a body now uses, in bytes. Throws an error if a limit is exceeded. */
  hold(bytes: number): void
}

type Field = Span & { readonly members: Members }

export const shortBody = 16 * 1024

/** Number of bytes of a long body to check per slice. Until V8 has compiled the code, a slice takes 2 ms. */
const windowBytes = 4 * 1024

const firstWindow = 1024

/** Copy of the bytes to check, because V8 reads slowly from the resizable memory of a body. */
const windowCopy = Buffer.allocUnsafeSlow(windowBytes)

class RequestCheck {
  readonly checker = new JsonChecker(2, (member, depth) => this.#visit(member, depth))
  readonly #members = new MemberRecord()
  #data: Field | undefined
  #projectId: Field | undefined
  #body = nothing
  #window = nothing
  #base = 0

  /** @throws {InvalidItemError} for invalid UTF-8. @throws {JsonSyntaxError} for invalid JSON. */
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
    // If a field is repeated, the last value wins.
    if (isNamed(body, nameStart, nameEnd, 'data')) this.#data = field
    else if (isNamed(body, nameStart, nameEnd, 'project_id')) this.#projectId = field
  }

  /** Returns the fields of a complete request body. @throws {InvalidItemError} (spec §2.2). */
  fields(body: Buffer): { readonly projectId: Buffer; readonly members: Members } {
    if (body[this.checker.start] !== openBrace) throw invalid('the body must be an object')
    const data = this.#data
    const projectId = this.#projectId
    // The schema validates a placeholder for each value (see `outline`), so that no value has to be parsed.
    const outlines: { data?: unknown; project_id?: unknown } = {}
    if (data !== undefined) outlines.data = outline(body, data.start)
    if (projectId !== undefined) outlines.project_id = outline(body, projectId.start)
    const result = validate(outlines)
    if ('issues' in result && result.issues) throw invalid(firstOf(result.issues))
    if (data === undefined) throw new Error('the schema accepted a request without data')
    return {
      projectId: projectId === undefined ? nullText : body.subarray(projectId.start, projectId.end),
      members: data.members,
    }
  }

  reset(): void {
    this.#data = undefined
    this.#projectId = undefined
    this.#members.take()
    this.checker.reset()
  }
}

/** Reused for each short body, because creating a `RequestCheck` takes longer than checking a short body. */
const shortCheck = new RequestCheck()

/** Parses a complete request body, and may modify the body's bytes. @throws {InvalidItemError} (spec §2.2). */
export function parseItemRequest(body: Buffer): ItemRequest {
  if (body.length === 0 || body.length > shortBody) {
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

/** Parses a request body as it arrives, and may modify the body's bytes. Throws at the first invalid byte. */
export function* readItemRequest(body: ArrivingBody): Slices<ItemRequest> {
  const check = new RequestCheck()
  const { checker } = check
  if (body.length > maxNamedText) throw invalid('the body is longer than 128 MiB')
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

function firstOf([first]: readonly Issue[]): string {
  const names = first?.path?.map((part) => (typeof part === 'object' ? part.key : part))
  return `${names?.join('.')} ${first?.message}`
}

/** Returns a placeholder of the JSON value's type. The placeholder for an empty string is empty too. */
function outline(text: Buffer, start: number): unknown {
  const first = text[start]
  if (first === openBrace) return {}
  if (first === openBracket) return []
  if (first === quote) return text[start + 1] === quote ? '' : 'x'
  if (first === lowerN) return null
  return first === lowerT || first === lowerF ? first === lowerT : 0
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export function firstInvalid(bytes: Uint8Array): number {
  return Buffer.from(decoder.decode(bytes)).findIndex((byte, at) => byte !== bytes[at])
}

function incompleteEnd(bytes: Uint8Array): number {
  for (let length = 1; length < 4 && length <= bytes.length; length += 1) {
    const byte = bytes[bytes.length - length] as number // never undefined: `length` is at most `bytes.length`
    if (byte < 0x80) break
    if (byte >= 0xc0) {
      const needed = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
      return length < needed ? bytes.length - length : bytes.length
    }
  }
  return bytes.length
}
