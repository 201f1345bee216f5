/** Checks the JSON text that the user is editing, and builds the request body that saves an item. @module */

import { JsonSyntaxError } from '../../../src/item/json-syntax.js'
import { positionOf, scanText } from '../../../src/item/scan.js'
import { layOut } from '../../shared/json-layout.js'
import { lastMembers, membersOf, skipSpace } from './members.js'
import { typeOf } from './values.js'

export interface Finding {
  readonly from: number
  readonly to: number
  readonly severity: 'error' | 'warning' // only an error prevents saving
  readonly message: string
}

export const invalidProject = 'project_id must be a string of at least 1 character, or null'

/** Returns the first syntax error of JSON text, with an index in the text. */
function syntaxErrorIn(text: string): JsonSyntaxError | undefined {
  const bytes = new TextEncoder().encode(text)
  try {
    scanText(bytes, 0, () => undefined)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    const before = decoder.decode(bytes.subarray(0, error.offset))
    return new JsonSyntaxError(error.message, before.length)
  }
  // The browser would send U+FFFD for a lone surrogate, which has no UTF-8.
  const lone = text.search(/\p{Surrogate}/u)
  return lone < 0 ? undefined : new JsonSyntaxError('half a character; write it as \\uXXXX', lone)
}

/** Returns all problems in an item's text, from top to bottom. @param id of the stored item, if any. */
export function checkDraft(text: string, id?: string): Finding[] {
  const error = syntaxErrorIn(text)
  if (error) return [{ ...markAt(text, error.offset), severity: 'error', message: error.message }]
  const start = skipSpace(text, 0)
  if (text.charAt(start) !== '{') {
    return [{ ...markAt(text, start), severity: 'error', message: 'an item must be an object' }]
  }
  const findings: Finding[] = []
  const last = lastMembers(text)
  for (const member of membersOf(text)) {
    const { name, start: from, valueStart, end } = member
    const value = text.slice(valueStart, end)
    if (last.get(name)?.start !== from) {
      const message = `only the last "${name}" is kept`
      findings.push({ from, to: end, severity: 'warning', message })
    } else if (name === 'project_id' && !isProject(value)) {
      findings.push({ from: valueStart, to: end, severity: 'error', message: invalidProject })
    } else if (name === 'id' && value !== JSON.stringify(id)) {
      const message = 'the service makes the id; this one is dropped'
      findings.push({ from, to: end, severity: 'warning', message })
    }
  }
  return findings
}

const besideData = ['id', 'project_id'] // removed from `data` by the service; the white space around them stays

export function whyInvalid(text: string): Finding | undefined {
  return checkDraft(text).find(({ severity }) => severity === 'error')
}

/** Indents JSON text. Leaves invalid text alone, because there is no telling where its tokens end. */
export function formattedDraft(text: string): string {
  return whyInvalid(text) ? text : layOut(text)
}

/** Returns the range to select in a new item: its first value but `project_id`, or the end of an empty object. */
export function firstValue(text: string): { readonly from: number; readonly to: number } {
  const member = Array.from(membersOf(text)).find(({ name }) => name !== 'project_id')
  if (!member) return { from: text.length - 1, to: text.length - 1 }
  const { valueStart: from, end: to } = member
  const { isText, isNested } = typeOf(text.slice(from))
  return isText || isNested ? { from: from + 1, to: to - 1 } : { from, to }
}

/** Replaces or adds a member's value in an item's text. The result has a `fault` if the value is invalid. */
export function withValue(text: string, name: string, value: string) {
  const error = syntaxErrorIn(value)
  if (error)
    return { text, fault: `This is not JSON: ${error.message}. A string needs quotes here.` }
  if (typeOf(value.trimStart()).isNested)
    return { text, fault: 'To enter an array or object, edit the whole item: Escape, then e.' }
  const members = lastMembers(text)
  const member = members.get(name)
  const end = member?.end ?? Math.max(...Array.from(members.values(), ({ end }) => end))
  const start = member
    ? text.slice(0, member.valueStart)
    : `${text.slice(0, end)},${JSON.stringify(name)}:`
  const changed = start + value + text.slice(end)
  return { text: changed, fault: whyInvalid(changed)?.message }
}

/** Returns the request body that saves an item, with `project_id` beside `data` (spec §2.2). */
export function requestBody(text: string): string {
  return `{"project_id":${projectIn(text)},"data":${without(text, besideData)}}`
}

function projectIn(text: string): string {
  const project = lastMembers(text).get('project_id')
  return project === undefined ? 'null' : text.slice(project.valueStart, project.end)
}

/** True if `text` equals the stored item, except for white space after the first and before the last brace. */
export function isSameItem(stored: string, text: string): boolean {
  const members = (text: string) => without(text, besideData).trim().slice(1, -1).trim()
  return projectIn(stored) === projectIn(text) && members(stored) === members(text)
}

/** Removes the member `id` from a JSON object. Leaves any other text alone. */
export function withoutId(text: string): string {
  const isObject = text.charAt(skipSpace(text, 0)) === '{' && !syntaxErrorIn(text)
  return isObject ? without(text, ['id']) : text
}

/** Removes members from a JSON object. Leaves the white space between the others alone. */
function without(text: string, names: readonly string[]): string {
  const members = [...membersOf(text)]
  const last = members.findLast(({ name }) => !names.includes(name))
  const kept = members.flatMap((member, at) =>
    names.includes(member.name)
      ? []
      : text.slice(member.start, member === last ? member.end : members[at + 1]?.start),
  )
  if (kept.length === members.length) return text
  return text.slice(0, members[0]?.start) + kept.join('') + text.slice(members.at(-1)?.end)
}

/** Returns line and column of an offset, counted from 1. Columns count characters. */
export function lineAndColumn(text: string, offset: number): string {
  const before = new TextEncoder().encode(text.slice(0, offset))
  return positionOf(before, before.length)
}

export function isProject(value: string): boolean {
  return value === 'null' || (value.startsWith('"') && value !== '""')
}

function markAt(text: string, offset: number): { from: number; to: number } {
  const from = Math.min(offset, Math.max(0, text.length - 1))
  return { from, to: Math.min(from + 1, text.length) }
}
