/** docs/reference/security-standards.md: each requirement has its row, and each row its test, or the reason why not. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { rowsUnder } from './support/snippets.js'
import { root } from './support/tools.js'

const text = readFileSync(join(root, 'docs/reference/security-standards.md'), 'utf8')
const risks = cellsOf('| risk | here | test |')
const requirements = cellsOf('| requirement | here | test |')

/** How many requirements each section of ASVS 5.0.0 has. */
const sections =
  '1.1:2 1.2:10 1.3:12 1.4:3 1.5:3 2.1:3 2.2:3 2.3:5 2.4:2 3.1:1 3.2:3 3.3:5 3.4:8 3.5:8 3.6:1 3.7:5 ' +
  '4.1:5 4.2:5 4.3:2 4.4:4 5.1:1 5.2:6 5.3:3 5.4:3 6.1:3 6.2:12 6.3:8 6.4:6 6.5:8 6.6:4 6.7:2 6.8:4 ' +
  '7.1:3 7.2:4 7.3:2 7.4:5 7.5:3 7.6:2 8.1:4 8.2:4 8.3:3 8.4:2 9.1:3 9.2:4 10.1:2 10.2:3 10.3:5 ' +
  '10.4:16 10.5:5 10.6:2 10.7:3 11.1:4 11.2:5 11.3:5 11.4:4 11.5:2 11.6:2 11.7:2 12.1:5 12.2:2 12.3:5 ' +
  '13.1:4 13.2:6 13.3:4 13.4:7 14.1:2 14.2:8 14.3:3 15.1:5 15.2:5 15.3:7 15.4:4 16.1:1 16.2:5 16.3:4 ' +
  '16.4:3 16.5:4 17.1:2 17.2:8 17.3:2'

/** The cells of the rows of a table: what is required, how it is met, and its tests. */
function cellsOf(head: string): [required: string, here: string, tests: string][] {
  return rowsUnder(text, head).map((row) => {
    const [, required = '', here = '', tests = '', ...end] = row
      .split('|')
      .map((cell) => cell.trim())
    assert.deepEqual(end, [''], row)
    return [required, here, tests]
  })
}

test('all ten risks for APIs have a row', () => {
  const numbers = risks.map(([required]) => required.split(' ', 1)[0])
  assert.deepEqual(
    numbers,
    ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'].map((n) => `API${n}`),
  )
})

test('all requirements of ASVS 5.0.0 have one row, and no other has', () => {
  const known = sections.split(' ').flatMap((entry) => {
    const [section, count] = entry.split(':')
    return Array.from({ length: Number(count) }, (_, place) => `${section}.${place + 1}`)
  })
  assert.equal(known.length, 345)
  const named = requirements.flatMap(([required]) => {
    const [numbers = ''] = /^(?:V?[\d.]+(?:, )?)+/.exec(required) ?? []
    assert.notEqual(numbers, '', required)
    return numbers.split(', ')
  })
  assert.equal(new Set(named).size, named.length)

  const used = new Set<string>()
  for (const number of known) {
    const [chapter, section] = number.split('.')
    // The row of a chapter has those that have none of their own.
    const places = [number, `${chapter}.${section}`, `V${chapter}`].filter((one) =>
      named.includes(one),
    )
    assert.ok(places[0] !== undefined, `${number} has no row`)
    assert.ok(!places.includes(number) || !places.includes(`${chapter}.${section}`), number)
    used.add(places[0])
  }
  for (const number of named) assert.ok(used.has(number), `${number} is no requirement`)
})

test('each row names tests that exist, or says why there is none', () => {
  const missing: RegExpMatchArray[] = []
  for (const [required, here, tests] of [...risks, ...requirements]) {
    const named = [...tests.matchAll(/`([^`]+)`: "(.*?)"(?=$|; `)/g)]
    assert.equal(named.map(([whole]) => whole).join('; '), tests, required)
    if (named.length === 0)
      assert.match(here, /^(?:does not apply|left to you|not met)\b/, required)
    missing.push(...named.filter(([, file = '', title = '']) => !isTest(file, title)))
  }
  assert.deepEqual(
    missing.map(([whole]) => whole),
    [],
  )
})

/** Whether a file has a test, or a group of them, with this title, as the report prints it. */
function isTest(name: string, title: string): boolean {
  const paths = name.startsWith('src/') ? [name] : [`test/${name}.test`, `test/large/${name}.test`]
  const file = paths.map((path) => join(root, `${path}.ts`)).find((path) => existsSync(path))
  if (file === undefined) return false
  const source = readFileSync(file, 'utf8')
  const titles = source.matchAll(/\b(?:\w*[tT]est|describe)\(\s*(?:'[^']*',\s*)?('[^']*'|`[^`]*`)/g)
  return [...titles].some(([, literal = '']) => patternOf(literal.slice(1, -1)).test(title))
}

/** What a title of the source can become in the report. */
function patternOf(title: string): RegExp {
  const parts = title.split(/\$\{[^}]*\}/)
  return new RegExp(
    `^${parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.+')}$`,
  )
}
