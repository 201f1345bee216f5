/** What is wrong with an item's text while it is edited, and the request that it makes. @module */

import { checkText, isObjectAt, JsonFault, lastMembers, membersOf, skipSpace } from './json-text.js'

/** Something to show at a place of the text. */
export interface Finding {
  readonly from: number
  readonly to: number
  /** Only an error keeps the text from being saved. */
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/** What is wrong with a `project_id` that is none. */
export const noProject = 'project_id must be a string of at least 1 character, or null'

/** The draft of a new item. @param project the `project_id` that it starts with. */
export function newDraft(project: string | null): string {
  return `{\n  "project_id": ${JSON.stringify(project)}\n}`
}

/**
 * Everything that is wrong, from top to bottom. A text without errors is an object that can be sent.
 * @param id that of the item which is edited, if it is stored already.
 */
export function checkDraft(text: string, id?: string): Finding[] {
  let start: number
  try {
    start = checkText(text)
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    return [{ ...markAt(text, error.offset), severity: 'error', message: error.message }]
  }
  if (!isObjectAt(text, start)) {
    return [{ ...markAt(text, start), severity: 'error', message: 'an item must be an object' }]
  }
  const findings: Finding[] = []
  const last = lastMembers(text, start)
  for (const member of membersOf(text, start)) {
    const { name, start: from, valueStart, end } = member
    const value = text.slice(valueStart, end)
    if (last.get(name)?.start !== from) {
      const message = `only the last "${name}" is kept`
      findings.push({ from, to: end, severity: 'warning', message })
    } else if (name === 'project_id' && !isProject(value)) {
      findings.push({ from: valueStart, to: end, severity: 'error', message: noProject })
    } else if (name === 'id' && value !== JSON.stringify(id)) {
      const message = 'the service makes the id; this one is dropped'
      findings.push({ from, to: end, severity: 'warning', message })
    }
  }
  return findings
}

/** Members that are not part of `data`: the service would drop them, but keep the white space around them. */
const besideData = ['id', 'project_id']

/**
 * The body of a create or replace (spec §2.2): the text as `data`, with its `project_id` beside it.
 * @param text an object without errors.
 */
export function requestBody(text: string): string {
  const project = lastMembers(text).get('project_id')
  const projectId = project === undefined ? 'null' : text.slice(project.valueStart, project.end)
  return `{"project_id":${projectId},"data":\n${without(text, besideData)}\n}`
}

/**
 * Where a problem that the service has with {@link requestBody} is in the text; it gives line and column.
 * @param text an object without errors.
 */
export function placeInDraft(text: string, problem: string): Finding | undefined {
  const [, line, column, message] =
    /\bline (\d+), column (\d+): (.*)/.exec(problem)?.map((part) => part) ?? []
  if (message === undefined) return undefined
  const lines = without(text, besideData).split('\n')
  const before = lines.slice(0, Number(line) - 2) // the text begins in the second line of the body
  const within = [...(lines[before.length] ?? '')].slice(0, Number(column) - 1).join('') // whole characters
  let offset = before.reduce((sum, line) => sum + line.length + 1, 0) + within.length
  for (const { from, to } of cutsFor(text, besideData)) if (from <= offset) offset += to - from
  return { ...markAt(text, Math.min(offset, text.length)), severity: 'error', message }
}

/** The text without its `id`, for a copy. @throws {JsonFault} */
export function withoutId(text: string): string {
  return without(text, ['id'])
}

/** The text without some of its members; everything else stays as it is. */
function without(text: string, names: readonly string[]): string {
  let result = ''
  let done = 0
  for (const { from, to } of cutsFor(text, names)) {
    result += text.slice(done, from)
    done = to
  }
  return result + text.slice(done)
}

/** Where members are, each with one of the commas around it. */
function cutsFor(text: string, names: readonly string[]): { from: number; to: number }[] {
  const cuts: { from: number; to: number }[] = []
  /** Where the latest member ends that stays. */
  let endOfLast: number | undefined
  for (const { name, start, end } of membersOf(text)) {
    const next = skipSpace(text, end)
    if (!names.includes(name)) endOfLast = end
    else if (text.charAt(next) === ',') cuts.push({ from: start, to: skipSpace(text, next + 1) })
    else {
      // The last one takes the comma before it, and with that all that goes since then.
      const from = endOfLast ?? start
      while (endOfLast !== undefined && (cuts.at(-1)?.from ?? -1) > from) cuts.pop()
      cuts.push({ from, to: end })
    }
  }
  return cuts
}

/** Line and column of a position, both from 1, the column in characters. */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  const line = before.split('\n').length
  return `line ${line}, column ${[...before.slice(lineStart)].length + 1}`
}

/** Whether this is the text of a `project_id` (spec §2.2). */
export function isProject(value: string): boolean {
  return value === 'null' || (value.startsWith('"') && value !== '""')
}

/** The character at a position; at the end of the text the one before. */
function markAt(text: string, offset: number): { from: number; to: number } {
  const from = Math.min(offset, Math.max(0, text.length - 1))
  return { from, to: Math.min(from + 1, text.length) }
}
