/** Reports test results as JUnit XML. Node's own reporter leaves `]]>` unescaped, which is invalid XML. */

import type { TestEvent } from 'node:test/reporters'
import { causeOf, problemIn } from './finding.js'

const entities = new Map([
  ...[...'&<>"'].map((character): [string, string] => [character, `&#${character.charCodeAt(0)};`]),
  ['\n', '&#10;'],
])

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const cases: string[] = []
  let failures = 0
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const seconds = (data.details.duration_ms / 1000).toFixed(3)
    const start = `<testcase classname="conformance" name="${escaped(data.name)}" time="${seconds}"`
    if (type === 'test:pass') {
      cases.push(`${start}/>\n`)
    } else {
      failures += 1
      const text = causeOf(data.details.error)
      const failure = `<failure message="${escaped(problemIn(text))}">${escaped(text)}</failure>`
      cases.push(`${start}>${failure}</testcase>\n`)
    }
  }
  yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n'
  yield `<testsuite name="item-store conformance" tests="${cases.length}" failures="${failures}">\n`
  yield* cases
  yield '</testsuite>\n</testsuites>\n'
}

/** Escapes text for XML. `printable` has already replaced the characters that XML forbids. */
function escaped(text: string): string {
  return text.replaceAll(/[&<>"\n]/g, (character) => entities.get(character) ?? character)
}
