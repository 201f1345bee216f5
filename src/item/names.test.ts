/** Names without their escapes are what `JSON.parse` makes of them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { unescapeName } from './names.js'

/** Each UTF-16 code unit in one of the ways that JSON has to write it. */
const units = String.raw`a \n \b \" \\ \/ é 😀 \u0041 \u00e9 \ud83d \ude00 \uD800 \uDFFF \u20ac \u0000 \u07ff`
const written = fc.array(fc.constantFrom(...units.split(' '))).map((parts) => parts.join(''))

function bytesOf(name: string): Buffer {
  const text = Buffer.from(`"${name}"`)
  return unescapeName(text, 1, text.length - 1)
}

test('a name without lone surrogates is its UTF-8', () => {
  fc.assert(
    fc.property(written, (name) => {
      const value: string = JSON.parse(`"${name}"`)
      if (!/\p{Surrogate}/u.test(value)) assert.deepEqual(bytesOf(name), Buffer.from(value))
    }),
  )
})

test('two names are equal exactly if their bytes are', () => {
  fc.assert(
    fc.property(written, written, (one, other) => {
      const areEqual = JSON.parse(`"${one}"`) === JSON.parse(`"${other}"`)
      assert.equal(bytesOf(one).equals(bytesOf(other)), areEqual)
    }),
    { numRuns: 1_000 },
  )
})
