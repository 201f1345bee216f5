/** What is wrong with an item's text while it is edited, and the request that it makes. @module */

import { checkText, isObjectAt, JsonFault, type Member, membersOf, skipSpace } from './json-text.js'

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

/**
 * The body of a create or replace (spec §2.2): the text as `data`, with its `project_id` beside it.
 *
 * Blanks stand for what does not belong into `data`, `id` and `project_id`. The service would drop these
 * two, but with them white space between the others.
 * @param text an object without errors.
 */
export function requestBody(text: string): string {
  const project = lastMembers(text, 0).get('project_id')
  const projectId = project === undefined ? 'null' : text.slice(project.valueStart, project.end)
  const data = replaced(text, ['id', 'project_id'], (member) => member.replaceAll(/[^\n]/g, ' '))
  return `{"project_id":${projectId},"data":\n${data}\n}`
}

/** Where a problem that the service has with {@link requestBody} is in the text; it gives line and column. */
export function placeInDraft(text: string, problem: string): Finding | undefined {
  const [, line, column, message] =
    /\bline (\d+), column (\d+): (.*)/.exec(problem)?.map((part) => part) ?? []
  if (message === undefined) return undefined
  const lines = text.split('\n')
  const before = lines.slice(0, Number(line) - 2) // the text begins in the second line of the body
  const within = [...(lines[before.length] ?? '')].slice(0, Number(column) - 1).join('') // whole characters
  const offset = before.reduce((sum, line) => sum + line.length + 1, 0) + within.length
  return { ...markAt(text, Math.min(offset, text.length)), severity: 'error', message }
}

/** The text without its `id`, for a copy. @throws {JsonFault} */
export function withoutId(text: string): string {
  return replaced(text, ['id'], () => '')
}

/** Puts something else in the place of members, each with one of the commas around it. */
function replaced(
  text: string,
  names: readonly string[],
  replacement: (member: string) => string,
): string {
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
  let result = ''
  let done = 0
  for (const { from, to } of cuts) {
    result += text.slice(done, from) + replacement(text.slice(from, to))
    done = to
  }
  return result + text.slice(done)
}

/** Line and column of a position, both from 1, the column in characters. */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  const line = before.split('\n').length
  return `line ${line}, column ${[...before.slice(lineStart)].length + 1}`
}

/** Of members with the same name the service keeps the last (spec §2.1). */
function lastMembers(text: string, start: number): Map<string, Member> {
  return new Map(Array.from(membersOf(text, start), (member) => [member.name, member]))
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
