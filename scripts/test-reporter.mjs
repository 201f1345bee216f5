/** The `spec` report of Node.js, with the errors of failed files, and failed tests at the end. */

import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'
import { inspect } from 'node:util'

/** Maximum number of output lines that are shown for a file. */
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
  yield* Readable.from(noteLeftOut(withReasons(source), leftOut)).compose(new spec())
  yield* leftOut
}

/** @param {AsyncIterable<TestEvent>} source @param {string[]} leftOut */
async function* noteLeftOut(source, leftOut) {
  for await (const event of source) {
    const { name, skip } = event.data ?? {}
    if (event.type === 'test:pass' && typeof skip === 'string') {
      leftOut.push(`Skipped, because ${skip}: ${name}\n`)
    }
    yield event
  }
}

/**
 * Node.js gives no reason why a file fails as a whole, so its standard error output is added.
 * @param {AsyncIterable<TestEvent>} source
 */
async function* withReasons(source) {
  /** @type {Map<string, string[]>} */
  const written = new Map()
  for await (const event of source) {
    const { file = '', message = '', details } = event.data ?? {}
    const lines = written.get(file)
    if (event.type === 'test:stderr') {
      const all = [...(lines ?? []), ...message.trimEnd().split('\n')]
      written.set(file, all.slice(-maxLines))
    } else if (
      event.type === 'test:fail' &&
      details?.error?.cause === 'test failed' &&
      lines !== undefined
    ) {
      details.error.cause = { [inspect.custom]: () => lines.join('\n') }
    }
    yield event
  }
}
