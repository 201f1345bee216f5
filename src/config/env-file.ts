/** Reads the `.env` file in the working directory. @module */

import { existsSync, readFileSync } from 'node:fs'
import { UsageError } from './usage-error.js'

// Patterns are sticky, so that parsing takes linear time. Node's own parser would truncate a secret at a `#`.
const assignment = /[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*/y
const quoted = /"([^"]*)"|'([^']*)'|`([^`]*)`/y
const plain = /[^\s"'`#][^\n#]*/y
/** Matches the end of a line, with an optional comment that begins the line or follows white space. */
const lineEnd = /[ \t]*(?:(?<!\S)#[^\n]*)?(?:\n|$)/y

/** Adds the variables in `.env` that are not already set, and returns their names. @throws {UsageError} */
export function loadEnvFile(): ReadonlySet<string> {
  if (!existsSync('.env')) return new Set()
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync('.env'))
  } catch (error) {
    throw new UsageError('.env in the working directory cannot be read', { cause: error })
  }
  const variables = [...parseEnvFile(text)].filter(([name]) => !process.env[name])
  Object.assign(process.env, Object.fromEntries(variables))
  return new Set(variables.map(([name]) => name))
}

/** Parses the text of a `.env` file. Errors do not quote malformed lines, which may contain a secret. */
export function parseEnvFile(file: string): ReadonlyMap<string, string> {
  const text = file.replaceAll('\r\n', '\n')
  const variables = new Map<string, string>()
  let at = 0

  function take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) at = pattern.lastIndex
    return found
  }

  function takeValue(): string {
    const [, double, single, backtick] = take(quoted) ?? []
    return double?.replaceAll('\\n', '\n') ?? single ?? backtick ?? take(plain)?.[0].trimEnd() ?? ''
  }

  function problemAt(position: number, problem: string): UsageError {
    return new UsageError(`.env line ${text.slice(0, position).split('\n').length} ${problem}`)
  }

  const nul = text.indexOf('\0')
  if (nul !== -1) {
    throw problemAt(nul, 'contains a NUL character, at which the system would cut the value off')
  }
  while (at < text.length) {
    const start = at
    const name = take(assignment)?.[1]
    if (name !== undefined) variables.set(name, takeValue())
    if (take(lineEnd) === null) {
      throw problemAt(
        start,
        'is malformed; expected NAME=value, with quotes around a value that contains #, quotes or line breaks',
      )
    }
  }
  return variables
}
