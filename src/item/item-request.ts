/** Checks the body of a request, such as a create or replace, as it arrives, without parsing values. @module */

import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import type { GenericRequest } from '../interface/models.js'
import { isMapped } from '../memory/mapped.js'
import { keptMembers, MemberRecord, type Members, maxMembers } from './data-members.js'
import { JsonChecker } from './json-checker.js'
import type { Member, Span } from './json-syntax.js'
import { isNamed, JsonSyntaxError, lowerN, openBrace, quote } from './json-syntax.js'
import { LineColumn } from './scan.js'
import type { Slices } from './slices.js'

export interface ItemRequest {
  readonly projectId: Buffer // JSON text: a string or `null`
  /** JSON text of the members that the item keeps, in their original order, separated by commas. */
  readonly members: Buffer
}

export class InvalidItemError extends Error {
  override readonly name = 'InvalidItemError'
}

class TooManyMembersError extends Error {
  readonly offset: number

  constructor(offset: number) {
    super(`data has more than ${maxMembers} members`)
    this.offset = offset
  }
}

const nullText = Buffer.from('null')
export const noBytes: Buffer = Buffer.alloc(0)

export interface ArrivingBody {
  readonly bytes: Buffer // the body is in its first `length` bytes; a longer one may replace it
  readonly length: number
  readonly isComplete: boolean
  /** Called with the memory that the check uses now, in bytes. Throws an error above a limit. */
  accountFor(bytes: number): void
}

type Field = Span & { readonly members: Members }
type FieldName = keyof GenericRequest

/** Functions that check a field like the model {@link GenericRequest}, but without parsing its value. */
const problemOf: Readonly<Record<FieldName, (text: Buffer, field?: Field) => string | undefined>> =
  {
    data(text, field) {
      if (field === undefined) return "is missing; put the item's members in it"
      return text[field.start] === openBrace ? undefined : 'must be an object'
    },
    project_id(text, field) {
      if (field === undefined || text[field.start] === lowerN) return undefined
      if (text[field.start] !== quote) return 'must be a string'
      return text[field.start + 1] === quote ? 'must have at least 1 character' : undefined
    },
  }
const fieldNames = Object.keys(problemOf) as FieldName[] // the record has exactly these names

/** Length in bytes up to which a complete body is checked at once. */
export const checkedAtOnce = 16 * 1024
const windowBytes = 4 * 1024 // bytes per slice, which takes 2 ms until V8 has compiled the code

const firstWindow = 1024
const windowCopy = Buffer.allocUnsafeSlow(windowBytes) // V8 reads slowly from the resizable memory of a body

/** A check of one body. @param levels of nested objects to visit; 1 for only the outermost. */
export abstract class BodyCheck {
  readonly checker: JsonChecker
  protected body = noBytes

  constructor(levels: number) {
    this.checker = new JsonChecker(levels, (member, depth) => this.visit(member, depth))
  }

  protected abstract visit(member: Member, depth: number): void

  get byteLength(): number {
    return this.checker.stack.byteLength
  }

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
    this.body = body
    this.checker.read(window, position, isLast && isText)
    this.body = noBytes
    if (!isText) throw new InvalidItemError('The body is not valid UTF-8')
  }
}

class RequestCheck extends BodyCheck {
  readonly #members = new MemberRecord()
  #fields: { [Name in FieldName]?: Field } = {}

  override get byteLength(): number {
    return super.byteLength + this.#members.byteLength
  }

  override visit(member: Member, depth: number): void {
    if (depth === 1) {
      const { valueStart: start, valueEnd: end } = member
      const members = this.#members.take()
      const name = this.#fieldNameOf(member)
      if (name !== undefined) this.#fields[name] = { start, end, members } // of a repeated field, the last counts
    } else if (this.#members.count < maxMembers) {
      this.#members.add(this.body, member)
    } else if (this.#fieldNameOf(this.checker.memberAt(1)) === 'data') {
      throw new TooManyMembersError(member.nameStart - 1)
    }
  }

  #fieldNameOf(member: Member): FieldName | undefined {
    return fieldNames.find((name) => isNamed(this.body, member, name))
  }

  /** Returns the fields of a complete request body. @throws {InvalidItemError} (spec §2.2). */
  fields(body: Buffer): { readonly projectId: Buffer; readonly members: Members } {
    if (body[this.checker.memberAt(0).valueStart] !== openBrace)
      throw invalid('the body must be an object')
    for (const name of fieldNames) {
      const problem = problemOf[name](body, this.#fields[name])
      if (problem !== undefined) throw invalid(`${name} ${problem}`)
    }
    const { data, project_id: projectId } = this.#fields
    return {
      projectId: projectId ? body.subarray(projectId.start, projectId.end) : nullText,
      members: (data as Field).members, // never undefined: the check of `data` has passed
    }
  }

  reset(): void {
    this.#fields = {}
    this.#members.take()
    this.checker.reset()
  }
}

const shortCheck = new RequestCheck(2) // creating one takes longer than checking a short body

/** Parses a request body as it arrives, and may modify its bytes. Throws at the first invalid byte. */
export function* readItemRequest(body: ArrivingBody): Slices<ItemRequest> {
  const isShort = body.isComplete && body.length <= checkedAtOnce && !isMapped(body.bytes)
  const check = isShort ? shortCheck : new RequestCheck(2)
  if (isShort) check.reset()
  yield* checkBody(body, check, isShort ? checkedAtOnce : 0)
  const { bytes } = body
  const { projectId, members } = check.fields(bytes)
  const { start, end } = members.names
    ? yield* keptMembers(bytes, members, body.accountFor)
    : members
  return { projectId, members: bytes.subarray(start, end) }
}

/** Checks a body as it arrives. Throws at the first invalid byte. @param atLeast bytes to check per slice, at least. */
export function* checkBody(body: ArrivingBody, check: BodyCheck, atLeast = 0): Slices<void> {
  const { checker } = check
  for (let isLast = false; !isLast; ) {
    const { position } = checker
    const length = Math.max(atLeast, Math.min(windowBytes, firstWindow + (position >> 1)))
    const end = Math.min(body.length, position + length)
    isLast = body.isComplete && end === body.length
    if (end === 0 && isLast) throw new InvalidItemError('The body is empty; expected a JSON object')
    try {
      check.read(body.bytes, end, isLast)
    } catch (error) {
      throw yield* withPlace(error, body.bytes)
    }
    if (isLast) break
    body.accountFor(check.byteLength)
    yield end === body.length ? 'waiting' : undefined
  }
}

function* withPlace(error: unknown, body: Buffer): Slices<unknown> {
  const isSyntax = error instanceof JsonSyntaxError
  if (!isSyntax && !(error instanceof TooManyMembersError)) return error
  const problem = `${yield* placeIn(body, error.offset)}: ${error.message}`
  return isSyntax
    ? new InvalidItemError(`The body is not valid JSON: ${problem}`)
    : invalid(problem)
}

export function* placeIn(text: Buffer, offset: number): Slices<LineColumn> {
  const place = new LineColumn()
  for (let start = 0; start < offset; start += windowBytes) {
    if (start > 0) yield
    const length = text.copy(windowCopy, 0, start, Math.min(start + windowBytes, offset))
    place.pass(windowCopy.subarray(0, length))
  }
  return place
}

function invalid(what: string): InvalidItemError {
  return new InvalidItemError(`Invalid item request: ${what}`)
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Returns the position of the first invalid sequence in bytes that aren't UTF-8. */
function firstInvalid(bytes: Uint8Array): number {
  const text = Buffer.from(decoder.decode(bytes))
  const different = bytes.findIndex((byte, at) => byte !== text[at])
  const end = different === -1 ? bytes.length : different
  // The decoder replaces invalid bytes with EF BF BD. If they begin with EF or EF BF, only a later byte differs.
  return [end - 1, end - 2].find((at) => bytes[at] === 0xef) ?? end
}

/** Returns where an incomplete character at the end begins, or else the number of bytes. */
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
