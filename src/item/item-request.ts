/**
 * Turns the body of a request into the text of the item, verbatim.
 *
 * The body is scanned once. What the client wrote as a member of `data` becomes, byte for byte, a member
 * of the item; no value is parsed and written again, so no number is rounded, no name reordered, no escape
 * changed.
 *
 * @module
 */

import { isUtf8 } from 'node:buffer'
import { is, safeParse } from 'valibot'
import { GenericRequest } from '../interface/models.js'
import type { EncodedItem, ItemId } from '../store/item-store.js'
import { mapped, mappedFrom } from '../store/mapped.js'
import { JsonSyntaxError } from './json-syntax.js'
import { keptMembers, type Positions } from './kept-members.js'
import { nameOf } from './names.js'
import { positionOf, scanText } from './scan.js'

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

const nullText = Buffer.from('null')
const noMembers = Buffer.alloc(0)
const comma = 0x2c
const openBracket = 0x5b
const openBrace = 0x7b
const closeBrace = 0x7d

/** The `data` or `project_id` of a request, as positions in the body. */
interface Field {
  readonly start: number
  readonly end: number
  /** The members of its value, if that is an object. */
  readonly members: Positions
}

interface ScannedBody {
  /** Where the JSON value starts. */
  readonly start: number
  data?: Field
  project_id?: Field
}

/**
 * Checks the body of a create or replace.
 * @param body JSON text in UTF-8.
 * @throws {InvalidItemError} if it is not JSON, or does not meet spec §2.2.
 */
export function parseItemRequest(body: Buffer): ItemRequest {
  const { start, data, project_id: projectId } = scanBody(body)

  if (body[start] !== openBrace) throw invalid('the body must be an object')

  // The schema gets only what it checks; nothing else is ever parsed.
  const outlines: { data?: unknown; project_id?: unknown } = {}
  if (data !== undefined) outlines.data = outline(body, data.start, data.end)
  if (projectId !== undefined) outlines.project_id = outline(body, projectId.start, projectId.end)
  if (!is(GenericRequest, outlines)) throw invalid(firstIssue(outlines))

  if (data === undefined) throw new Error('the scan and the schema disagree on data')
  return {
    projectId: projectId === undefined ? nullText : body.subarray(projectId.start, projectId.end),
    members: data.members.length === 0 ? noMembers : keptMembers(body, data.members),
  }
}

/**
 * The item as it is stored and sent: `id`, `project_id`, then the members of `data` in the order in which
 * they were sent (spec §2.1).
 */
export function encodeItem(id: ItemId, request: ItemRequest): EncodedItem {
  const head = `{"id":"${id}","project_id":`
  const { projectId, members } = request
  const separator = members.length > 0 ? 1 : 0
  const length = head.length + projectId.length + separator + members.length + 1

  const item = length < mappedFrom ? Buffer.allocUnsafe(length) : mapped(length)
  let at = item.write(head, 'latin1')
  at += projectId.copy(item, at)
  item[at] = comma
  members.copy(item, at + separator)
  item[length - 1] = closeBrace
  return item as EncodedItem // the only place that makes them
}

function scanBody(body: Buffer): ScannedBody {
  if (body.length === 0) throw new InvalidItemError('The body is empty; expected a JSON object')
  if (!isUtf8(body)) throw new InvalidItemError('The body is not valid UTF-8')
  const fields: { data?: Field; project_id?: Field } = {}
  let inner: number[] = []
  try {
    const start = scanText(body, 2, ({ nameStart, nameEnd, valueStart, valueEnd }, depth) => {
      if (depth === 2) {
        inner.push(nameStart, nameEnd, valueEnd)
        return
      }
      const members = inner
      inner = []
      const name = nameOf(body, nameStart, nameEnd)
      if (name === 'data' || name === 'project_id') {
        fields[name] = { start: valueStart, end: valueEnd, members } // the last one counts
      }
    })
    return { start, ...fields }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new InvalidItemError(
      `The body is not valid JSON: ${positionOf(body, error.offset)}: ${error.message}`,
    )
  }
}

function invalid(what: string): InvalidItemError {
  return new InvalidItemError(`Invalid item request: ${what}`)
}

/** The first issue that the schema finds. */
function firstIssue(fields: object): string {
  const [first] = safeParse(GenericRequest, fields).issues ?? []
  return `${first?.path?.map(({ key }) => key).join('.')} ${first?.message}`
}

/** As much of a value as the schema needs: an empty object or array, or any other value as it is. */
function outline(text: Buffer, start: number, end: number): unknown {
  if (text[start] === openBrace) return {}
  if (text[start] === openBracket) return []
  return JSON.parse(text.toString('utf8', start, end))
}
