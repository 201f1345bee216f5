/** The file `.env` in the working folder. @module */

import { existsSync, readFileSync } from 'node:fs'
import { UsageError } from '../usage-error.js'

/**
 * One variable, comment or blank line, with the end of its line; a value in quotes may have several
 * lines. Node's own parser is of no use here: it passes over what it does not understand, takes the
 * rest of a value after a `#` for a comment, so that a secret would be cut short in silence, and
 * reads some comments as variables.
 */
const value = /"(?<double>[^"]*)"|'(?<single>[^']*)'|`(?<back>[^`]*)`|(?<plain>[^\s"'`#][^\n#]*)/
const variable = `(?:export[ \\t]+)?(?<name>[A-Za-z_][\\w.-]*)[ \\t]*=[ \\t]*(?:${value.source})?`
const entry = new RegExp(`[ \\t]*(?:${variable})?[ \\t]*(?:(?<!\\S)#[^\\n]*)?(?:\\n|$)`, 'y')

/**
 * Puts the variables of the file into the environment, which wins where it has them already.
 * @returns the names of those that come from the file; none where there is no file.
 * @throws {UsageError} for a file that cannot be read, and for a malformed line.
 */
export function loadEnvFile(): ReadonlySet<string> {
  if (!existsSync('.env')) return new Set()
  const variables = [...parseEnvFile(readText())].filter(([name]) => !(name in process.env))
  Object.assign(process.env, Object.fromEntries(variables))
  return new Set(variables.map(([name]) => name))
}

/**
 * The variables of a file: `NAME=value`, also after `export`; `\n` in double quotes is a line break.
 * @throws {UsageError} with the number of the first malformed line, and not with the line itself, as
 * that may hold a secret.
 */
export function parseEnvFile(file: string): ReadonlyMap<string, string> {
  const text = file.replaceAll('\r\n', '\n')
  const variables = new Map<string, string>()
  for (let at = 0; at < text.length; at = entry.lastIndex) {
    entry.lastIndex = at
    const found = entry.exec(text)
    if (found === null) {
      const line = text.slice(0, at).split('\n').length
      throw new UsageError(
        `.env line ${line} is malformed; expected NAME=value, with quotes around a value that has a #, a quote or several lines`,
      )
    }
    const { name, double, single, back, plain = '' } = found.groups ?? {}
    if (name === undefined) continue
    variables.set(name, double?.replaceAll('\\n', '\n') ?? single ?? back ?? plain.trimEnd())
  }
  return variables
}

function readText(): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync('.env'))
  } catch (error) {
    throw new UsageError('.env in the working folder cannot be read', { cause: error })
  }
}
