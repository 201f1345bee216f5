/** Node's `spec` report, with the standard error output of failed files, and skipped tests at the end. */

import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'
import { inspect } from 'node:util'

/** Maximum number of output lines shown per file. */
const maxLines = 40

/**
 * The parts of a test runner event that this reporter uses.
 * @typedef {{ type: string, data: { name?: string, file?: string, skip?: string | boolean,
 *   message?: string, details?: { error?: Error } } | undefined }} TestEvent
 */

/** @param {AsyncIterable<TestEvent>} source */
export default async function* report(source) {
  /** @type {string[]} */
  const leftOut = []
  yield* Readable.from(explained(source, leftOut)).compose(new spec())
  yield* leftOut
}

/**
 * Adds lines about skipped tests to `leftOut`. If a whole test file fails, Node.js gives no reason,
 * so the file's standard error output is added.
 * @param {AsyncIterable<TestEvent>} source @param {string[]} leftOut
 */
async function* explained(source, leftOut) {
  /** @type {Map<string, string[]>} */
  const written = new Map()
  for await (const event of source) {
    const { name, file = '', skip, message = '', details } = event.data ?? {}
    const lines = written.get(file) ?? []
    const error = details?.error
    if (event.type === 'test:pass' && typeof skip === 'string') {
      leftOut.push(`Skipped, because ${skip}: ${name}\n`)
    } else if (event.type === 'test:stderr') {
      written.set(file, [...lines, ...message.trimEnd().split('\n')].slice(-maxLines))
    } else if (event.type === 'test:fail' && error?.cause === 'test failed' && lines.length > 0) {
      error.cause = { [inspect.custom]: () => lines.join('\n') }
    }
    yield event
  }
}
