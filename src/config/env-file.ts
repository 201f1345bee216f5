/** Reads the text of a `.env` file as both dotenv and python-dotenv would. @module */

import { settingNames } from './settings.js'
import { UsageError } from './usage-error.js'

const ownNames = [...settingNames, 'JWT_SECRET', 'JWT_SECRET_FILE', 'JWT_ALGORITHM']

// These patterns are sticky, so that the time for parsing is linear.
const variable = /[^\S\n]*(?:export[^\S\n]+)?([\w.-]+)[^\S\n]*(=?)/y
const quoted = /[^\S\n]*(["'`])(.*?)(?<!\\)\1/sy
const plain = /[^\n]*?(?=\s#|\n|$)/y
const lineEnd = /[^\S\n]*(?:#[^\n]*)?(?:\n|$)/y
const restOfLine = /[^\n]*\n?/y

// Parts of a value that dotenv and python-dotenv read differently, by the quote around it. Only python-dotenv replaces
// `${…}`, decodes escapes such as `\"`, and keeps a `#` within a word. Only dotenv knows backticks.
const disputed = new Map([
  ['', /#|^\s*["'`]|^[ \t]*[^\S \t]|[^\S \t][ \t]*$|\$\{|\ufffd/],
  ["'", /\\[\\']|\$\{|\ufffd/],
  ['"', /\\[\\'"abftv]|\$\{|\ufffd/],
])

/** Adds the variables of a `.env` file that the environment does not have, and returns their names. @throws {UsageError} */
export function addToEnvironment(file: Uint8Array): ReadonlySet<string> {
  const variables = parseEnvFile(new TextDecoder().decode(file))
  const added = [...variables].filter(([name]) => process.env[name] === undefined)
  Object.assign(process.env, Object.fromEntries(added))
  return new Set(added.map(([name]) => name))
}

/**
 * Parses a `.env` file, and skips lines that dotenv and python-dotenv would read differently.
 * @throws {UsageError} if such a line begins with the name of a setting. The message does not quote the line.
 */
export function parseEnvFile(file: string): ReadonlyMap<string, string> {
  const text = file.replaceAll(/\r\n?/g, '\n')
  const variables = new Map<string, string>()
  let at = 0

  function take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) at = pattern.lastIndex
    return found
  }

  function takeValue(): string | undefined {
    const [, quote = '', inside] = take(quoted) ?? []
    const value = inside ?? take(plain)?.[0] ?? ''
    if (disputed.get(quote)?.test(value) !== false) return undefined
    if (quote === '') return value.trim()
    return quote === '"' ? value.replaceAll('\\n', '\n').replaceAll('\\r', '\r') : value
  }

  function problemAt(position: number, problem: string): UsageError {
    return new UsageError(`.env line ${text.slice(0, position).split('\n').length} ${problem}`)
  }

  const nul = text.indexOf('\0')
  if (nul !== -1) throw problemAt(nul, 'contains a NUL character; save the file as UTF-8')
  while (at < text.length) {
    const start = at
    const [, name = '', equals] = take(variable) ?? []
    const value = equals ? takeValue() : ''
    if (value !== undefined && take(lineEnd) !== null) {
      if (equals) variables.set(name, value)
      continue
    }
    if (ownNames.includes(name)) {
      const expected = `${name}='value', without quotes or backslashes in the value`
      throw problemAt(start, `has no clear value for ${name}; expected ${expected}`)
    }
    at = start
    take(restOfLine)
  }
  return variables
}
