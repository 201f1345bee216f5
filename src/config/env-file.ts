/** The file `.env` in the working directory. @module */

import { existsSync, readFileSync } from 'node:fs'
import { UsageError } from './usage-error.js'

/**
 * One variable, comment or blank line, with its line break; a quoted value may span several lines.
 * Node's own parser will not do: it skips what it does not understand, takes a `#` in a value for the start
 * of a comment, which would silently truncate a secret, and reads some comments as variables.
 */
const value = /"(?<double>[^"]*)"|'(?<single>[^']*)'|`(?<back>[^`]*)`|(?<plain>[^\s"'`#][^\n#]*)/
const variable = `(?:export[ \\t]+)?(?<name>[A-Za-z_][\\w.-]*)[ \\t]*=[ \\t]*(?:${value.source})?`
const entry = new RegExp(`[ \\t]*(?:${variable})?[ \\t]*(?:(?<!\\S)#[^\\n]*)?(?:\\n|$)`, 'y')

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
  for (let at = 0; at < text.length; at = entry.lastIndex) {
    entry.lastIndex = at
    const found = entry.exec(text)
    if (found === null) {
      const line = text.slice(0, at).split('\n').length
      throw new UsageError(
        `.env line ${line} is malformed; expected NAME=value, with quotes around a value that contains #, quotes or line breaks`,
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
    throw new UsageError('.env in the working directory cannot be read', { cause: error })
  }
}
