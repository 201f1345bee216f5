/** The file `.env` in the working directory. @module */

import { existsSync, readFileSync } from 'node:fs'
import { UsageError } from './usage-error.js'

// The parts of an entry, each matched where the one before it ends, so that reading takes linear time.
// Node's own parser will not do: it skips what it does not understand, takes a `#` in a value for the start
// of a comment, which would silently truncate a secret, and reads some comments as variables.
const blanks = /[ \t]*/y
const assignment = /(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*/y
const doubleQuoted = /"([^"]*)"/y // quoted values may span several lines
const singleQuoted = /'([^']*)'|`([^`]*)`/y
const plain = /[^\s"'`#][^\n#]*/y
/** The end of a line; a comment follows white space, or begins the line. */
const lineEnd = /(?:(?<!\S)#[^\n]*)?(?:\n|$)/y

/**
 * Adds the variables of the file to the environment; those that are set, and not empty, take precedence.
 * @returns the names of the variables that were added.
 * @throws {UsageError} if the file cannot be read or has a malformed line.
 */
export function loadEnvFile(): ReadonlySet<string> {
  if (!existsSync('.env')) return new Set()
  const variables = [...parseEnvFile(readText())].filter(([name]) => !process.env[name])
  Object.assign(process.env, Object.fromEntries(variables))
  return new Set(variables.map(([name]) => name))
}

/**
 * The variables of a file: `NAME=value`, also after `export`; `\n` in double quotes is a line break.
 * @throws {UsageError} with the number of the first malformed line, but not the line itself, which may
 * contain a secret.
 */
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
    const double = take(doubleQuoted)?.[1]
    if (double !== undefined) return double.replaceAll('\\n', '\n')
    const single = take(singleQuoted)
    return single?.[1] ?? single?.[2] ?? take(plain)?.[0].trimEnd() ?? ''
  }

  const nul = text.indexOf('\0')
  if (nul !== -1) {
    throw problemAt(
      text,
      nul,
      'contains a NUL character, at which the system would cut the value off',
    )
  }
  while (at < text.length) {
    const start = at
    take(blanks)
    const name = take(assignment)?.[1]
    if (name !== undefined) variables.set(name, takeValue())
    take(blanks)
    if (take(lineEnd) === null) {
      throw problemAt(
        text,
        start,
        'is malformed; expected NAME=value, with quotes around a value that contains #, quotes or line breaks',
      )
    }
  }
  return variables
}

function problemAt(text: string, at: number, problem: string): UsageError {
  return new UsageError(`.env line ${text.slice(0, at).split('\n').length} ${problem}`)
}

function readText(): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync('.env'))
  } catch (error) {
    throw new UsageError('.env in the working directory cannot be read', { cause: error })
  }
}
