/**
 * Node's own readable report, which ends with the failing tests and their reasons, in a terminal and in
 * a pipe. For a file that fails as a whole, it would say only that; here the reason is what the file
 * wrote to standard error.
 */

import { compose } from 'node:stream'
import { spec } from 'node:test/reporters'
import { inspect } from 'node:util'

/** Maximum number of lines shown of what a file wrote. */
const maxLines = 40

export default async function* report(source) {
  const leftOut = []
  yield* compose(noteLeftOut(withReasons(source), leftOut), new spec())
  yield* leftOut
}

/** Notes the tests that are skipped for a reason, such as a program that is missing: a line for each. */
async function* noteLeftOut(source, leftOut) {
  for await (const event of source) {
    const { name, skip } = event.data ?? {}
    if (event.type === 'test:pass' && typeof skip === 'string') {
      leftOut.push(`Left out, as ${skip}: ${name}\n`)
    }
    yield event
  }
}

async function* withReasons(source) {
  const written = new Map()
  for await (const event of source) {
    const { file, message, details } = event.data ?? {}
    if (event.type === 'test:stderr') {
      const lines = [...(written.get(file) ?? []), ...message.trimEnd().split('\n')]
      written.set(file, lines.slice(-maxLines))
    } else if (
      event.type === 'test:fail' &&
      details.error?.cause === 'test failed' &&
      written.has(file)
    ) {
      details.error.cause = { [inspect.custom]: () => written.get(file).join('\n') }
    }
    yield event
  }
}
