/** Generates JSON text in every way that the grammar allows, not only as a serializer would write it. */

import fc from 'fast-check'

const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n', '  ')

const number = fc.oneof(
  fc.constantFrom('0', '-0', '1.0', '1e400', '-1E-400', '12345678901234567890', '0.1000', '1e+05'),
  fc.bigInt().map(String),
  fc
    .tuple(fc.bigInt(), fc.nat(), fc.integer({ min: -400, max: 400 }))
    .map(([whole, fraction, exponent]) => `${whole}.${fraction}e${exponent}`),
)

const character = fc.oneof(
  fc.constantFrom('\\n', '\\/', '/', '\\"', '\\\\', '\\b', '\\f', '\\r', '\\t', '}', ',', ':'),
  fc.constantFrom('\\ud800', '\\udc00', '\\uD83D\\uDE00', '\\u0000', '\\u0041', '\u2028', '\u007f'),
  fc
    .string({ unit: 'binary', minLength: 1, maxLength: 1 })
    .map((text) => JSON.stringify(text).slice(1, -1)),
)

export const jsonString = fc
  .array(character, { maxLength: 8 })
  .map((parts) => `"${parts.join('')}"`)

const name = fc.oneof(
  // Bug in Node.js 24 and 26: once JSON.parse has read the name "\\", it reads the name "\n" as "\\".
  { weight: 4, arbitrary: jsonString.filter((text) => !text.startsWith('"\\\\')) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['"id"', '"project_id"', '"\\u0069d"', '"project\\u005fid"', '"ID"', '"__proto__"'],
      ...['"constructor"', '"data"', '"a"', '"\\u0061"', '""', '"1"', '"toString"'],
    ),
  },
)

function separated(parts: fc.Arbitrary<string>, open: string, close: string) {
  return fc
    .array(fc.tuple(space, parts, space), { maxLength: 5 })
    .map((all) => open + all.map((part) => part.join('')).join(',') + close)
}

export const { value: jsonValue, object: jsonObject } = fc.letrec<{
  value: string
  object: string
  array: string
  member: string
}>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('true', 'false', 'null'),
    number,
    jsonString,
    tie('object'),
    tie('array'),
  ),
  member: fc
    .tuple(name, space, space, tie('value'))
    .map(([key, before, after, value]) => `${key}${before}:${after}${value}`),
  object: separated(tie('member'), '{', '}'),
  array: separated(tie('value'), '[', ']'),
}))
