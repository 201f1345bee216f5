/** Node's `spec` report. If a whole test file fails, the report adds the end of the file's error output. */

import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'
import { inspect } from 'node:util'

/** Maximum length of the error output that is shown for a file, in characters. */
const maxLength = 4000

/**
 * The parts of a test runner event that this reporter uses.
 * @typedef {{ file?: string, message?: string, details?: { error?: Error } }} EventData
 * @typedef {AsyncIterable<{ type: string, data: EventData | undefined }>} TestEvents
 */

/** @param {TestEvents} events */
export default async function* report(events) {
  yield* Readable.from(explained(events)).compose(new spec())
}

/** Adds error output to the failures of files, for which Node.js gives no reason. @param {TestEvents} events */
async function* explained(events) {
  /** @type {Map<string, string>} */
  const outputs = new Map()
  for await (const event of events) {
    const { file = '', message = '', details } = event.data ?? {}
    const output = outputs.get(file) ?? ''
    const error = details?.error
    if (event.type === 'test:stderr') {
      outputs.set(file, (output + message).slice(-maxLength))
    } else if (event.type === 'test:fail' && error?.cause === 'test failed' && output !== '') {
      error.cause = { [inspect.custom]: () => output.trimEnd() }
    }
    yield event
  }
}
