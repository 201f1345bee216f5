/**
 * From the body of a request to the item's own text: the verbatim core.
 *
 * The body is checked once and cut once. What the client wrote as a member of `data` becomes, byte
 * for byte, a member of the item; no value is built and written again, so no number is rounded, no
 * name reordered, no escape respelt.
 *
 * @module
 */

import { isUtf8 } from 'node:buffer'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { EncodedItem, ItemId } from '../store/item-store.js'
import { JsonFault, type Member, scanText, type Value } from './scan.js'

/** What create and replace take (spec §2.2). Further members are ignored. */
export const GenericRequest = Type.Object(
  {
    data: Type.Object({}, { additionalProperties: true, description: 'The members of the item' }),
    project_id: Type.Optional(
      Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
        description: 'Copied into the item; null when omitted',
      }),
    ),
  },
  { title: 'GenericRequest', additionalProperties: true },
)
export type GenericRequest = Static<typeof GenericRequest>

/** A checked request, as the pieces of text that the item is put together from. */
export interface ItemRequest {
  /** The text of `project_id`: a JSON string as it was sent, or `null`. */
  readonly projectId: Buffer
  /** The text of the members of `data` that the item keeps, in order; commas between them. */
  readonly members: readonly Buffer[]
}

/** A body that is no item request. The message tells the client what is wrong and where. */
export class InvalidItemError extends Error {
  override readonly name = 'InvalidItemError'
}

const requestSchema = Compile(GenericRequest)
const nullText = Buffer.from('null')
const openBrace = 0x7b
const openBracket = 0x5b

/**
 * Checks the body of a create or replace.
 * @param body JSON text in UTF-8.
 * @throws {InvalidItemError} when it is not JSON, or not what spec §2.2 asks for.
 */
export function parseItemRequest(body: Buffer): ItemRequest {
  const root = scanBody(body)
  const members = membersByName(body, root.members ?? [])
  const data = members.get('data')?.value
  const projectId = members.get('project_id')?.value

  // The schema is shown what it asks about; the rest of the values is never built.
  const outlined: { data?: unknown; project_id?: unknown } = {}
  if (data !== undefined) outlined.data = outline(body, data)
  if (projectId !== undefined) outlined.project_id = outline(body, projectId)
  const value = root.members === undefined ? outline(body, root) : outlined
  if (!requestSchema.Check(value)) throw new InvalidItemError(whatIsWrong(value))

  if (data?.members === undefined) throw new Error('the scan and the schema disagree on data')
  return {
    projectId: projectId === undefined ? nullText : body.subarray(projectId.start, projectId.end),
    members: keptMembers(body, data.start, data.members),
  }
}

/**
 * The item as it is stored and sent: `id`, `project_id`, then the members of `data` in the order
 * they were sent (spec §2.1).
 */
export function encodeItem(id: ItemId, request: ItemRequest): EncodedItem {
  const head = `{"id":"${id}","project_id":`
  let length = head.length + request.projectId.length + 1
  for (const member of request.members) length += 1 + member.length

  const item = Buffer.allocUnsafe(length)
  let at = item.write(head, 'latin1')
  at += request.projectId.copy(item, at)
  for (const member of request.members) {
    at = item.writeUInt8(0x2c, at) // comma
    at += member.copy(item, at)
  }
  item.writeUInt8(0x7d, at) // closing brace
  return item as EncodedItem // made here, and nowhere else
}

function scanBody(body: Buffer): Value {
  if (body.length === 0) throw new InvalidItemError('The body is empty; expected a JSON object')
  if (!isUtf8(body)) throw new InvalidItemError('The body is not valid UTF-8')
  try {
    return scanText(body, 2)
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    throw new InvalidItemError(
      `The body is not valid JSON: ${place(body, error.offset)}: ${error.message}`,
    )
  }
}

/** Line and column of a byte, both from 1, the column in characters. */
function place(text: Buffer, offset: number): string {
  const before = text.subarray(0, offset)
  const lineStart = before.lastIndexOf(0x0a) + 1
  let line = 1
  for (let at = before.indexOf(0x0a); at !== -1; at = before.indexOf(0x0a, at + 1)) line += 1
  // Characters of UTF-8 are counted by their first bytes; the others are 10xxxxxx (RFC 3629 §3).
  let column = 1
  for (let at = lineStart; at < offset; at += 1) if ((text[at] ?? 0) >> 6 !== 0b10) column += 1
  return `line ${line}, column ${column}`
}

/** The fault of a body that is JSON but no item request, in the words of its schema. */
function whatIsWrong(value: unknown): string {
  const [first] = requestSchema.Errors(value)
  if (first === undefined) return 'The body is not an item request'
  const where =
    first.instancePath === '' ? 'the body' : first.instancePath.slice(1).replaceAll('/', '.')
  return `Invalid item request: ${where} ${first.message}`
}

/** What the schema needs to see of a value: an object or array without what is inside, all else whole. */
function outline(text: Buffer, { start, end }: Value): unknown {
  if (text[start] === openBrace) return {}
  if (text[start] === openBracket) return []
  return JSON.parse(text.toString('utf8', start, end))
}

/** The members of an object by name; of a repeated one the last, which counts (as in `JSON.parse`). */
function membersByName(text: Buffer, members: readonly Member[]): Map<string, Member> {
  const byName = new Map<string, Member>()
  for (const member of members) byName.set(nameOf(text, member), member)
  return byName
}

/** A member's name with its escapes resolved. */
function nameOf(text: Buffer, { nameStart, nameEnd }: Member): string {
  const name = text.toString('utf8', nameStart, nameEnd)
  return name.includes('\\') ? (JSON.parse(`"${name}"`) as string) : name // a JSON string, scanned
}

/**
 * The pieces of `data` that become members of the item: all but `id` and `project_id`, and of a
 * repeated name the last.
 */
function keptMembers(text: Buffer, dataStart: number, members: readonly Member[]): Buffer[] {
  const last = members.at(-1)
  if (last === undefined) return []
  const byName = membersByName(text, members)
  byName.delete('id')
  byName.delete('project_id')
  if (byName.size === members.length) return [text.subarray(dataStart + 1, last.value.end)]

  const kept = new Set(byName.values())
  const pieces: Buffer[] = []
  let start: number | undefined
  for (const [index, member] of members.entries()) {
    if (!kept.has(member)) continue
    start ??= member.nameStart - 1
    const next = members[index + 1]
    if (next !== undefined && kept.has(next)) continue // one piece together with the next
    pieces.push(text.subarray(start, member.value.end))
    start = undefined
  }
  return pieces
}
