/** Reads JSON-RPC messages (JSON-RPC 2.0 §4), in which the `data` of an item stays text. @module */

import { ApiError } from '../interface/errors.js'
import { type ArrivingBody, BodyCheck, checkBody, InvalidItemError } from '../item/item-request.js'
import { isNamed, type Member, openBrace, type Span } from '../item/json-syntax.js'
import { kibibyte } from '../memory/shares.js'

/** An error for the program that sent a message. Its agent doesn't see it, only errors of tool calls. */
export class RpcError extends ApiError {
  override readonly status: number
  readonly sent: object // as in the response (JSON-RPC 2.0 §5.1)

  constructor(status: number, code: number, message: string, data?: object) {
    super('BAD_REQUEST', message)
    this.status = status
    this.sent = { code, message, data }
  }
}

const noArguments = Buffer.from('{}')
const maxMessageBytes = 16 * kibibyte // without `data`, since the rest is parsed at once

class MessageCheck extends BodyCheck {
  id: Span = { start: 0, end: 0 }
  call: { readonly arguments?: Span; readonly data?: Span | undefined } = {}
  #call = this.call
  #data: Span | undefined

  override visit(member: Member, depth: number) {
    const { valueStart: start, valueEnd: end } = member
    // An object is visited after its members. If a name is repeated, its last value is used.
    const hasName = (name: string) => isNamed(this.body, member, name)
    if (depth === 3) {
      if (hasName('data')) this.#data = { start, end }
    } else if (depth === 2) {
      if (hasName('arguments')) this.#call = { arguments: { start, end }, data: this.#data }
      this.#data = undefined
    } else {
      if (hasName('id')) this.id = { start, end }
      if (hasName('params')) this.call = this.#call
      this.#call = {}
    }
  }
}

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads a message as it arrives. @throws {RpcError} if it is not a JSON object, or too long without `data`. */
export function* readMessage(body: ArrivingBody) {
  const check = new MessageCheck(3)
  try {
    yield* checkBody(body, check)
  } catch (error) {
    throw error instanceof InvalidItemError ? new RpcError(400, -32700, error.message) : error
  }
  const { bytes, length } = body
  if (bytes[check.checker.memberAt(0).valueStart] !== openBrace)
    throw new RpcError(400, -32600, 'Send one JSON-RPC message at a time, as an object')
  const { arguments: sent, data: { start, end } = { start: length, end: length } } = check.call
  if (length - (end - start) > maxMessageBytes)
    throw new RpcError(
      400,
      -32600,
      `Without data, the message is longer than ${maxMessageBytes / kibibyte} KiB`,
    )
  const rest = bytes.toString('utf8', end, length)
  const text = bytes.toString('utf8', 0, start) + (start < end ? `null${rest}` : rest)
  return {
    /** The members of the message, with `null` as `data`. */
    members: JSON.parse(text) as JsonObject, // a JSON object
    /** JSON text of the id, with one character for each byte of UTF-8; empty if there is none. */
    id: bytes.toString('latin1', check.id.start, check.id.end),
    call:
      sent && bytes[sent.start] === openBrace ? bytes.subarray(sent.start, sent.end) : noArguments,
  }
}
