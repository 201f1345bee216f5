/** The log: one JSON object per line for programs, or short lines for people. @module */

import { createRequire } from 'node:module'
import type { DestinationStream, Logger } from 'pino'

/** Maximum size of the lines not read yet, in bytes; beyond it, lines are dropped. */
const maxUnreadBytes = 1024 * 1024

/**
 * @param level minimum level to log.
 * @param isReadable whether to write lines for people instead of JSON.
 */
export function createLog(level: string, isReadable: boolean): Logger {
  // An `import` of this CommonJS package would load a lexer for its exports, which adds 30 ms to the start.
  const { pino }: typeof import('pino') = createRequire(import.meta.url)('pino')
  const { stdout } = process
  let dropped = 0
  // Not pino's own destination: once nobody reads standard output any more, that one retries forever,
  // which keeps the process from exiting.
  const destination: DestinationStream = {
    write(line) {
      if (stdout.writableLength > maxUnreadBytes) {
        if (dropped === 0) stdout.once('drain', reportDropped)
        dropped += 1
      } else {
        stdout.write(isReadable ? readableLines(JSON.parse(line)) : line)
      }
    },
  }
  const formatters = { level: (name: string) => ({ level: name }) }
  const timestamp = pino.stdTimeFunctions.isoTime
  const log = pino({ level, base: null, timestamp, formatters }, destination)
  // The service must survive whatever reads its log.
  stdout.on('error', () => undefined)

  function reportDropped(): void {
    const count = dropped
    dropped = 0
    log.warn({ dropped: count }, 'log lines were dropped because they were not read in time')
  }

  return log
}

/**
 * An entry as lines for people. An answered request has its session id only if it failed, since that is when people
 * look for it.
 */
function readableLines({ level, time, msg, err, ...fields }: Record<string, unknown>): string {
  const { method, path, status, error_code, ms, ...rest } = fields
  const isAnswered = msg === 'answered'
  const hasFailed = Number(status) >= 400
  const severity = String(level).toUpperCase()
  const stack = stackOf(err)
  const others = stack === undefined && err !== undefined ? { ...rest, err } : rest
  const words = [
    String(time).slice(11, 19),
    ...(isAnswered ? [] : [severity.padEnd(5)]),
    ...[method, path, status, error_code].filter((word) => word !== undefined),
    ...(ms === undefined ? [] : [`${Number(ms).toFixed(1)} ms`]),
    ...(isAnswered ? [] : [msg]),
    ...(isAnswered
      ? hasFailed
        ? [`session_id=${rest.session_id}`]
        : []
      : Object.entries(others).map(([name, value]) => `${name}=${format(value)}`)),
  ]
  const trace = stack === undefined ? [] : stack.split('\n')
  // Indented, so that no line of a stack can be mistaken for an entry.
  return [words.map(format).join(' '), ...trace.map((line) => `  ${line}`)]
    .map((line) => `${printable(line)}\n`)
    .join('')
}

/** The stack of an error, as pino writes it; `undefined` if what was thrown is not an error. */
function stackOf(err: unknown): string | undefined {
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? err.stack : undefined
  return typeof stack === 'string' ? stack : undefined
}

function format(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/**
 * Escapes every character that a terminal or a viewer would act on instead of showing it, line breaks too, and those
 * that no XML may contain.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffe\uffff]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`
  })
}
