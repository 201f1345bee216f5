/**
 * The `spec` report of Node.js, which always ends with the failing tests and their reasons, even in a pipe. For a file
 * that fails as a whole, Node.js gives no reason, so this report shows the file's standard error output.
 */

import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'
import { inspect } from 'node:util'

/** Maximum number of output lines that are shown for a file. */
const maxLines = 40

/**
 * The parts of a test runner event that this reporter uses. Not every event has all of them.
 * @typedef {object} TestEvent
 * @property {string} type
 * @property {{
 *   name?: string
 *   file?: string
 *   skip?: string | boolean
 *   message?: string
 *   details?: { error?: Error }
 * } | undefined} data
 */

/** @param {AsyncIterable<TestEvent>} source */
export default async function* report(source) {
  /** @type {string[]} */
  const leftOut = []
  yield* Readable.from(noteLeftOut(withReasons(source), leftOut)).compose(new spec())
  yield* leftOut
}

/**
 * Collects a line for each test that is skipped for a reason, such as a missing program.
 * @param {AsyncIterable<TestEvent>} source
 * @param {string[]} leftOut
 */
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
 * Adds the standard error output of a file as the reason why the file failed as a whole.
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
