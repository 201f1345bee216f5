/** The log: one JSON object per line for programs, or short lines for people. @module */

import { createRequire } from 'node:module'
import type { DestinationStream, Logger } from 'pino'

const maxUnreadBytes = 1024 * 1024

/** @param opening line to print first. The log is kept back until then. */
export function createLog(level: string, isReadable: boolean, opening?: Promise<string>): Logger {
  // `import` would load a lexer for pino, a CommonJS package, which takes 30 ms.
  const { pino }: typeof import('pino') = createRequire(import.meta.url)('pino')
  const { stdout } = process
  let dropped = 0
  let keptBack: string[] | undefined = opening && []
  // If the log's reader ends, pino's own destination retries forever, and the process can't exit.
  const destination: DestinationStream = {
    write(line) {
      if (keptBack !== undefined) keptBack.push(line)
      else if (stdout.writableLength > maxUnreadBytes) {
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
  // The service must outlive the program that reads its log.
  stdout.on('error', () => undefined)
  void opening?.then((first) => {
    stdout.write([first, ...(keptBack ?? [])].join(''))
    keptBack = undefined
  })

  function reportDropped(): void {
    const count = dropped
    dropped = 0
    log.warn({ dropped: count }, 'log lines were dropped because they were not read in time')
  }

  return log
}

function readableLines({ level, time, msg, err, ...fields }: Record<string, unknown>): string {
  const { method, path, status, error_code, ms, ...rest } = fields
  const duration = ms === undefined ? undefined : `${Number(ms).toFixed(1)} ms`
  const request = [method, path, status, error_code, duration]
  const { stack }: { readonly stack?: unknown } = Object(err)
  const trace = typeof stack === 'string' ? stack.split('\n') : []
  const named = trace.length > 0 || err === undefined ? rest : { ...rest, err }
  const others = Object.entries(named).map(([name, value]) => `${name}=${format(value)}`)
  const words =
    msg === 'answered'
      ? [...request, Number(status) >= 400 ? `session_id=${rest.session_id}` : undefined]
      : [String(level).toUpperCase().padEnd(5), ...request, msg, ...others]
  const shown = [String(time).slice(11, 19), ...words].filter((word) => word !== undefined)
  // Indented, so that the lines of a stack can't be mistaken for log entries.
  return [shown.map(format).join(' '), ...trace.map((line) => `  ${line}`)]
    .map((line) => `${printable(line)}\n`)
    .join('')
}

function format(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Escapes line breaks, characters that XML forbids, and those that a terminal would interpret. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffe\uffff]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`
  })
}
