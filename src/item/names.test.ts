/** Tests that names are equal if and only if `JSON.parse` returns equal strings. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseItemRequest } from './item-request.js'
import { NameComparison, NameHash } from './names.js'

const { raw } = String

/** Compares two names, and checks that their hashes are equal if and only if the names are. */
function areEqual(one: string, other: string): boolean {
  const text = Buffer.from(`"${one}""${other}"`)
  const starts = [1, Buffer.byteLength(one) + 3] as const
  const comparison = new NameComparison(text)
  comparison.begin(...starts)
  while (comparison.goOn());
  const hash = new NameHash()
  const [first, second] = starts.map((start) => {
    hash.begin(text, start)
    while (hash.goOn());
    return hash.mixed
  })
  assert.equal(first === second, comparison.areSame)
  return comparison.areSame
}

/** Each array has all JSON spellings of one character or lone surrogate. */
const spellings = [
  ['a', raw`\u0061`],
  ['A', raw`\u0041`],
  ['é', raw`\u00e9`, raw`\u00E9`],
  ['e\u0301', raw`e\u0301`],
  [raw`\n`, raw`\u000a`],
  [raw`\b`, raw`\u0008`],
  [raw`\"`, raw`\u0022`],
  ['n'],
  ['/', raw`\/`, raw`\u002f`],
  [raw`\\`, raw`\u005c`],
  ['😀', raw`\ud83d\ude00`],
  [raw`\ude00\ud83d`],
  [raw`\udfff`, raw`\uDFFF`],
  [raw`\ud800`],
  ['\ue000', raw`\ue000`],
] as const

test('names that differ in one character are different; names that differ only in spelling are equal', () => {
  const place = fc.nat(spellings.length - 1)
  const spelt = (characters: readonly number[], ways: readonly number[]) =>
    characters
      .map((at, n) => spellings[at]?.at((ways[n] ?? 0) % (spellings[at]?.length ?? 1)))
      .join('')
  const [places, ways] = [fc.array(place, { minLength: 1 }), fc.array(fc.nat(2))]
  fc.assert(
    fc.property(places, fc.nat(), place, ways, (characters, at, other, ways) => {
      const one = spelt(characters, [])
      const near = spelt(characters.with(at % characters.length, other), ways)
      assert.equal(areEqual(one, near), JSON.parse(`"${one}"`) === JSON.parse(`"${near}"`))
    }),
    { numRuns: 2_000 },
  )
})

test('different names of one or two UTF-16 code units are kept as different members', () => {
  const escaped = (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`
  const all = Array.from({ length: 0x10000 }, (_, unit) => escaped(unit))
  const low = [0, 0x41, 0x7f, 0x80, 0xe9, 0x7ff, 0x800, 0xd7ff]
  const ends = [...low, 0xd800, 0xd801, 0xdbff, 0xdc00, 0xdc01, 0xdfff, 0xe000, 0xffff].map(escaped)
  const names = new Set([...all, ...ends.flatMap((one) => ends.map((other) => one + other))])
  for (const unit of all) names.add(`${unit}\\udfff`).add(`\\ud800${unit}`)
  const members = Array.from(names, (name) => `"${name}":1`).join()
  const kept = parseItemRequest(Buffer.from(`{"data":{${members}}}`)).members
  assert.ok(kept.equals(Buffer.from(members)))
})
