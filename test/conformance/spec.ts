/** Prints the results of `item-store conformance` as text for people. */

import type { TestEvent } from 'node:test/reporters'
import { causeOf, placeholders, problemIn } from './finding.js'

const colors = process.stdout.hasColors?.() ?? false
const [passed, failed] = colors ? ['\x1b[32m✔\x1b[39m', '\x1b[31m✖\x1b[39m'] : ['✔', '✖']

const explanations = {
  [placeholders.token]: '$TOKEN is a valid token: TOKEN=$(item-store token --sub tester)',
  [placeholders.signature]:
    '$SIGNATURE is the signature of another token, left out because the secret may have made it',
}

/** Prints a line for each test, with details if it failed, and finally how often each cause occurred. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const totals: string[] = []
  const causes = new Map<string, number>()
  const explained = new Set<string>()
  for await (const { type, data } of events) {
    if (type === 'test:pass') {
      yield `${passed} ${data.name}\n`
    } else if (type === 'test:fail') {
      const text = causeOf(data.details.error)
      causes.set(problemIn(text), (causes.get(problemIn(text)) ?? 0) + 1)
      for (const [placeholder, meaning] of Object.entries(explanations)) {
        if (text.includes(placeholder)) explained.add(meaning)
      }
      yield `${failed} ${data.name}\n${text.replaceAll(/^(?=.)/gm, '    ')}\n\n`
    } else if (type === 'test:diagnostic') {
      totals.push(`ℹ ${data.message}\n`)
    }
  }
  yield* totals
  if (causes.size > 0) yield `\n${lines(causes)}`
  if (explained.size > 0) yield `\n${[...explained].join('\n')}\n`
}

function lines(causes: ReadonlyMap<string, number>): string {
  return [...causes]
    .sort(([, a], [, b]) => b - a)
    .map(([cause, count]) => `${count} ${count === 1 ? 'case' : 'cases'}: ${cause}\n`)
    .join('')
}
