/** Report on a failed test: the problem, the request as a curl command, and the response. */

import { AssertionError } from 'node:assert'
import { STATUS_CODES } from 'node:http'
import { inspect } from 'node:util'
import { printable } from '../../src/process/log.js'
import { type Exchange, validTokens } from './exchanges.js'

/** Maximum length of a body in the report, and of a value in the report's first line, in characters. */
const maxBody = 2_000
const maxValue = 60

/** What the report shows in place of a valid token, and of the signature of any other token. */
export const placeholders = { token: '$TOKEN', signature: '$SIGNATURE' }

export class Finding extends Error {
  constructor(error: unknown, exchange: Exchange | undefined, hasStack: boolean) {
    const parts = exchange === undefined ? [] : [curlOf(exchange), responseOf(exchange)]
    super([problemOf(error), ...parts].map(safe).join('\n\n'))
    const stack = hasStack && error instanceof Error ? `\n${error.stack}` : ''
    this.stack = this.message + stack
  }
}

export function causeOf({ cause, message }: Error): string {
  return cause instanceof Error ? cause.message : safe(message)
}

/** Returns the first line of a message, which is the same for all failures with the same cause. */
export function problemIn(text: string): string {
  return text.split('\n', 1).join()
}

/** Makes text printable, and hides token signatures, which are secret. */
function safe(text: string): string {
  return text
    .replaceAll(/\b(eyJ[\w-]+\.[\w-]*\.)[\w-]+/g, `$1$${placeholders.signature}`)
    .split('\n')
    .map(printable)
    .join('\n')
}

function problemOf(error: unknown): string {
  if (
    !(error instanceof AssertionError) ||
    error.operator === undefined ||
    !/^(strictEqual|deepStrictEqual|match)$/.test(error.operator)
  ) {
    if (error instanceof SyntaxError) return `the body is not JSON\n${error.message}`
    return error instanceof Error ? error.message : inspect(error)
  }
  // Only the first line, because some versions of Node.js add the compared values in later lines.
  const name = error.generatedMessage ? 'a value' : problemIn(error.message)
  const [actual, expected] = [valueText(error.actual), valueText(error.expected)]
  if (Math.max(actual.length, expected.length) > maxValue) {
    return `${name} is not as expected\nexpected ${expected}\ngot      ${actual}`
  }
  const is = error.actual === undefined ? `no ${name}` : `${name} is ${actual}`
  return `${is}, expected ${expected}`
}

function valueText(value: unknown): string {
  return inspect(value, {
    ...{ depth: 10, maxStringLength: 200, maxArrayLength: 20, compact: true },
    breakLength: Number.POSITIVE_INFINITY,
  })
}

/** Formats a curl command, with `$TOKEN` or `$SIGNATURE` in place of a secret. */
function curlOf({ method, url, headers, body }: Exchange): string {
  const isUsual = method === (body === undefined ? 'GET' : 'POST')
  const words = ['curl -i', ...(isUsual ? [] : [`-X ${method}`]), quoted(url)]
  for (const [name, value] of Object.entries(headers)) {
    if (name !== 'content-length')
      words.push(`-H ${quoted(`${name}: ${withoutToken(String(value))}`)}`)
  }
  if (body !== undefined) words.push(`-d ${quoted(shortened(body.toString()))}`)
  return words.join(' ')
}

function responseOf({ answer }: Exchange): string {
  if (answer === undefined) return 'no response'
  const { status, headers, text } = answer
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = [`${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(), ...lines].join('\n')
  return text === '' ? head : `${head}\n\n${shortened(text)}`
}

function withoutToken(value: string): string {
  const [scheme, token = ''] = value.split(' ')
  return validTokens.has(token) ? `${scheme} ${placeholders.token}` : value
}

function shortened(text: string): string {
  return text.length > maxBody ? `${text.slice(0, maxBody)}… (${text.length} characters)` : text
}

/** Quotes a word for the shell. A token gets double quotes, where `$TOKEN` is expanded. */
function quoted(text: string): string {
  if (/^authorization: [\w .$-]+$/.test(text)) return `"${text}"`
  return `'${text.replaceAll("'", "'\\''")}'`
}
