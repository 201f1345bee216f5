/** The log: one JSON object a line, or lines for people where a terminal reads them. @module */

import { type DestinationStream, type Logger, pino } from 'pino'

/**
 * @param level least level to log.
 * @param isTerminal whether people read standard output.
 */
export function createLog(level: string, isTerminal: boolean): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  // A reader of the log that goes away must not take the service with it.
  process.stdout.on('error', () => undefined)
  return pino(options, isTerminal ? readable : plain)
}

/**
 * Not pino's own destination: when nobody reads standard output any more, that one tries again for
 * ever as the process ends, and so keeps it from ending.
 */
const plain: DestinationStream = {
  write: (line) => process.stdout.write(line),
}

const readable: DestinationStream = {
  write(line) {
    const { level, time, msg, err, ...rest }: Record<string, unknown> = JSON.parse(line)
    const label = pino.levels.labels[Number(level)]?.toUpperCase() ?? ''
    const fields = Object.entries(rest).map(([name, value]) => ` ${name}=${String(value)}`)
    const stack = hasStack(err) ? `\n${err.stack}` : ''
    const clock = String(time).slice(11, 19)
    process.stdout.write(`${clock} ${label.padEnd(5)} ${String(msg)}${fields.join('')}${stack}\n`)
  },
}

function hasStack(error: unknown): error is { stack: string } {
  return typeof error === 'object' && error !== null && 'stack' in error
}
