import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { encodeItem, parseItemRequest } from '../../test/support/item-text.js'
import { jsonObject, jsonValue } from '../../test/support/json-text.js'
import { GenericRequest } from '../interface/models.js'
import { mapped } from '../memory/mapped.js'
import { newItemId } from './id.js'
import { InvalidItemError, type ItemRequest, noBytes, readItemRequest } from './item-request.js'
import { runToEnd, type Slices } from './slices.js'

const id = newItemId()

function itemOf(body: string): string {
  const text = encodeItem(id, parseItemRequest(Buffer.from(body))).toString()
  const opening = `{"id":"${id}","project_id":`
  assert.ok(text.startsWith(opening), text)
  return text.slice(opening.length)
}

const raw = String.raw
const oddProject = raw`"caf\u00e9 é \ud83d \/ \u0000"`
/** Request bodies, each with the part of the resulting item's text that follows `"project_id":`. */
const bodies: [body: string, item: string][] = [
  ['{"data":{"10":1,"b":2,"2":3,"é":"e\u0301 🦄"}}', 'null,"10":1,"b":2,"2":3,"é":"e\u0301 🦄"}'],
  ['{"data":{"ID":1,"Project_ID":2," id":3}}', 'null,"ID":1,"Project_ID":2," id":3}'],
  ['{"data":{"i":1,"idx":2,"project_i":3}}', 'null,"i":1,"idx":2,"project_i":3}'],
  ['{"data":{"id":1,"project_id":2}}', 'null}'],
  ['{"data":{"a":1,"id":{"b":2}}}', 'null,"a":1}'],
  ['{"data":{"a":1.0, "id" : [1] , "b":2.0}}', 'null,"a":1.0, "b":2.0}'],
  ['{"data":{ \n}}', 'null}'],
  [raw`{"data":{"a":1,"project\u005Fid":"x"}}`, 'null,"a":1}'],
  [raw`{"data":{"id":1,"a":1,"\u0069\u0064":2}}`, 'null,"a":1}'],
  [raw`{"data":{"\"x":1,"\u0022x":2}}`, raw`null,"\u0022x":2}`],
  ['{"data":{"":1,"":2}}', 'null,"":2}'],
  ['{"data":{"__proto__":{"a":1},"b":2,"__proto__":{}}}', 'null,"b":2,"__proto__":{}}'],
  ['{"data":{"a":1},"data":{"b":2}}', 'null,"b":2}'],
  ['{"data":1,"data":{"b":2}}', 'null,"b":2}'],
  [raw`{"data":{"a":1},"d\u0061ta":{}}`, 'null}'],
  ['{"__proto__":{"data":{"x":1}},"data":{}}', 'null}'],
  ['{"project_id":"a","data":{},"project_id":"b"}', '"b"}'],
  ['{"project_id":"","data":{},"project_id":"b"}', '"b"}'],
  ['{"project_id":"a","data":{},"project_id":null}', 'null}'],
  ['{"data":{},"project_id":null}', 'null}'],
  [`{"data":{},"project_id":${oddProject}}`, `${oddProject}}`],
  ['{"x":1,"id":2,"data":{},"__proto__":{"project_id":"x"}}', 'null}'],
]
for (const [body, item] of bodies) {
  test(`§2.1 §2.2 the item of the request ${body}`, () => assert.equal(itemOf(body), item))
}

describe('an item has the members of data', () => {
  test('with equal values, except for id and project_id, even if the request has other members', () => {
    const key = fc.constantFrom('data', 'd\\u0061ta', 'project_id', 'x', 'y', '__proto__')
    const value = fc.oneof(jsonObject, fc.constantFrom('{}', '"a"', 'null', '[{"a":1}]'))
    const field = fc.tuple(key, value).map(([name, text]) => `"${name}":${text}`)
    fc.assert(
      fc.property(fc.array(field, { maxLength: 5 }), jsonObject, (fields, data) => {
        const body = `{${[...fields, '"project_id":"a"', `"data":${data}`].join(',')}}`
        const { x, ...members } = JSON.parse(`{"x":${itemOf(body)}`)
        assert.equal(x, 'a')
        const { id: _, project_id: __, ...kept } = JSON.parse(data)
        // An object literal can't have a member named `__proto__`; a map can.
        assert.deepEqual(new Map(Object.entries(members)), new Map(Object.entries(kept)))
      }),
      { numRuns: 2000 },
    )
  })

  test('with only the last occurrence of a repeated name', () => {
    const letter = fc.constantFrom(
      ...['a', raw`\u0061`, 'A', 'é', raw`\u00e9`, raw`\u00E9`, raw`e\u0301`, 'n', raw`\n`],
      ...[raw`\u000a`, raw`\b`, raw`\"`, raw`\u0022`, '/', raw`\/`, raw`\\`, raw`\u005c`, '😀'],
      ...[raw`\ud83d\ude00`, raw`\ude00\ud83d`, raw`\ud800`, raw`\ud801`, '�', '\ue000'],
    )
    const name = fc.array(letter, { maxLength: 2 }).map((letters) => letters.join(''))
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 200 }), (names) => {
        const members = names.map((each, place) => `"${each}":${place}`)
        const last = new Map(names.map((each, place) => [JSON.parse(`"${each}"`), place]))
        const expected = members.filter((_, place) => [...last.values()].includes(place))
        assert.equal(itemOf(`{"data":{${members}}}`), `null,${expected}}`)
      }),
      { numRuns: 500 },
    )
  })
})

describe('a body that arrives in parts', () => {
  const name = fc.constantFrom('a', '\\u0061', 'é', 'id', '')
  const member = fc
    .tuple(name, fc.nat(9), fc.constantFrom('', ' '))
    .map(([name, value, space]) => `"${name}":${value}${space}`)
  const repeated = fc.array(member, { maxLength: 40 }).map((members) => `{${members}}`)
  const texts = [
    '\xff',
    '\xe9',
    '\xed',
    '\xef',
    '\xef\xbf',
    '\xf0',
    '\0',
    '\n',
    '"',
    '\\',
    '.5',
    '1E+',
  ]
  const wrong = texts.map((text) => Buffer.from(text, 'latin1'))
  const text = fc
    .oneof(jsonObject, jsonValue, repeated)
    .map((value) => `{"data":${value},"project_id":"é🦄"}`)
  const almost = fc.tuple(text, fc.nat(), fc.nat(3), fc.constantFrom(noBytes, ...wrong))
  const body = almost.map(([text, at, cut, insert]) => {
    const bytes = Buffer.from(text)
    const place = at % (bytes.length + 1)
    return Buffer.concat([bytes.subarray(0, place), insert, bytes.subarray(place + cut)])
  })

  test('becomes the same item, or gets the same error, as in one piece', () => {
    fc.assert(
      fc.property(body, fc.array(fc.nat(), { maxLength: 8 }), (bytes, places) => {
        const ends = places.map((place) => place % (bytes.length + 1)).sort((one, two) => one - two)
        const each = Array.from(bytes, (_, place) => place)
        const whole = outcomeOf(() => parseItemRequest(Buffer.from(bytes)))
        for (const parts of [[], ends, each]) {
          const outcome = outcomeOf(() => readInParts(bytes, parts))
          assert.equal(outcome, whole)
        }
        assert.equal(/^The body is not valid/.test(whole), !isJson(bytes))
      }),
      { numRuns: 2000 },
    )
  })
})

test('the first slices of a long body are short, and so are all slices that drop tiny members', () => {
  const fault = readItemRequest(complete(`{"data":{${'"":1,'.repeat(800)}x${' '.repeat(20_000)}}}`))
  fault.next()
  fault.next()
  assert.throws(() => runToEnd(fault), InvalidItemError)

  const members = 20_000
  const names = readItemRequest(complete(`{"data":{${'"":1,'.repeat(members)}"a":1}}`))
  assert.ok(sliceCount(names) > members / 256)
  const long = readItemRequest(
    complete(`{"data":{${`"${'x'.repeat(65)}":1,`.repeat(members)}"a":1}}`),
  )
  assert.ok(sliceCount(long) > members)
})

test('a body that arrives whole becomes the same item in any memory, whatever its length', () => {
  for (const length of [100, 4096, 4097, 16_384, 16_385]) {
    const body = Buffer.from(`{"data":{"a":"${'x'.repeat(length - 17)}"}}`)
    const item = outcomeOf(() => readInParts(body, []))
    assert.equal(
      item,
      outcomeOf(() => parseItemRequest(body)),
    )
    assert.match(item, /x"}$/)
  }
})

function sliceCount(work: Slices<unknown>): number {
  let slices = 0
  while (work.next().done !== true) slices += 1
  return slices
}

function outcomeOf(check: () => ItemRequest): string {
  try {
    return encodeItem(id, check()).toString()
  } catch (error) {
    if (error instanceof InvalidItemError) return error.message
    throw error
  }
}

function readInParts(bytes: Buffer, ends: readonly number[]): ItemRequest {
  const body = arriving(mapped(bytes.length)) // a copy, because the check may modify the body
  bytes.copy(body.bytes)
  const work = readItemRequest(body)
  for (const end of ends) {
    body.length = end
    while (work.next().value !== 'waiting');
  }
  body.length = bytes.length
  body.isComplete = true
  return runToEnd(work)
}

function arriving(bytes: Buffer) {
  return { bytes, length: 0, isComplete: false, accountFor: () => undefined }
}

function complete(text: string) {
  return { ...arriving(Buffer.from(text)), length: text.length, isComplete: true }
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
    return true
  } catch {
    return false
  }
}

test('the last member with a repeated name is kept, however long and however escaped the name is', () => {
  for (const letter of ['x', '€']) {
    const escaped = letter === 'x' ? raw`\u0078` : raw`\u20aC`
    for (const length of [60, 64, 65, 10_000]) {
      const spellings = [letter.repeat(length), escaped.repeat(length)]
      const others = Array.from({ length: 20 }, (_, place) => `"${spellings[0]}${place}":0`)
      for (const first of spellings) {
        for (const last of spellings) {
          const data = `{"${first}":1,${others},"${last}":2}`
          assert.ok(itemOf(`{"data":${data}}`) === `null,${others},"${last}":2}`, `${length}`)
        }
      }
    }
  }
})

test('of 30,000 short names that occur twice, the last occurrence of each is kept', () => {
  const names = Array.from({ length: 30_000 }, (_, place) => `"${place}":${place}`).join()
  assert.ok(itemOf(`{"data":{${names},"id":1,${names}}}`) === `null,${names}}`) // `assert.equal` would print both texts
})

test('§8 data has at most 65,536 members, counted as sent; the first one more is the error', () => {
  const many = (count: number, text: string) => Array(count).fill(text).join()
  const most = 65_536
  for (const text of ['"a":1', '"id":1', '"a":{"b":1,"c":2}']) {
    assert.doesNotThrow(() => itemOf(`{"data":{${many(most, text)}}}`))
    const message = `Invalid item request: line 2, column ${(text.length + 1) * most + 1}: data has more than 65536 members`
    const body = `{"data":{\n${many(most, text)},"b":[1,2],"c":x`
    assert.throws(() => itemOf(body), { name: 'InvalidItemError', message })
  }
  const others = `{${many(most + 1, '"a":1')}}`
  assert.equal(itemOf(`{"x":${others},"data":{"a":${others}}}`), `null,"a":${others}}`)
})

test('§2.2 the checks of fields agree with the model', () => {
  const values = ['{}', '{"a":1}', '[]', '[1]', '"a"', '""', '0', '-1', 'true', 'false', 'null']
  const members = ['data', 'project_id'].map((name) => [
    '"x":1',
    ...values.map((value) => `"${name}":${value}`),
  ])
  for (const data of members[0] ?? []) {
    for (const project of members[1] ?? []) {
      const body = `{${data},${project}}`
      const result = GenericRequest['~standard'].validate(JSON.parse(body))
      assert.ok(!(result instanceof Promise))
      const [issue] = result.issues ?? []
      const path = issue?.path?.map((part) => (typeof part === 'object' ? part.key : part))
      const expected = issue && `Invalid item request: ${path?.join('.')} ${issue.message}`
      const outcome = outcomeOf(() => parseItemRequest(Buffer.from(body)))
      assert.equal(outcome.startsWith('{') ? undefined : outcome, expected, body)
    }
  }
})

test('a body that is cut within a character is not valid UTF-8, whatever the character', () => {
  for (const character of ['é', 'ࠀ', '\u1000', '\uf000', '\uffff', '\ufffd', '😀', '\u{10ffff}']) {
    const bytes = Buffer.from(character)
    for (let length = 1; length < bytes.length; length += 1) {
      for (const before of ['', '{', '{"data":{"a":"', '{"data":{}}', '{"data":{"\ufffd']) {
        for (const after of ['', 'a', '}', 'é']) {
          const part = bytes.subarray(0, length)
          const body = Buffer.concat([Buffer.from(before), part, Buffer.from(after)])
          const outcome = outcomeOf(() => parseItemRequest(body))
          assert.equal(outcome, 'The body is not valid UTF-8', body.toString('latin1'))
        }
      }
    }
  }
})
