import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseEnvFile } from './env-file.js'

const files: { text: string; values: Record<string, string> }[] = [
  { text: '\n  \n# a comment\n\t# another = one\n', values: {} },
  { text: 'A="1"\r\nexport B = two words \r\n', values: { A: '1', B: 'two words' } },
  { text: 'A=\nB= \nC=3', values: { A: '', B: '', C: '3' } },
  { text: 'A=1 # a comment\nB="a # b" # a "comment"\n', values: { A: '1', B: 'a # b' } },
  { text: 'A="x\ny=z\n#"\nB=\'1\n2\'\nC=`"\n`', values: { A: 'x\ny=z\n#', B: '1\n2', C: '"\n' } },
  { text: "A=it's=so\nB.c-d=1", values: { A: "it's=so", 'B.c-d': '1' } },
  { text: 'A="1\\n2"\nB=1\\n2', values: { A: '1\n2', B: '1\\n2' } },
  { text: '__proto__=1', values: JSON.parse('{"__proto__":"1"}') },
]

for (const { text, values } of files) {
  test(`.env ${JSON.stringify(text)} is parsed`, () => {
    assert.deepEqual(Object.fromEntries(parseEnvFile(text)), values)
  })
}

const malformed: [text: string, line: number][] = [
  ['A=1\n\nB 2\n', 3],
  ['A=1\nB: 2', 2],
  ['A="x\ny"\n=1', 3],
  ['A=1\nB="x\nC=2\n', 2],
  ['A="x" y', 1],
  ['A=x#y', 1],
  ['1A=1', 1],
]

for (const [text, line] of malformed) {
  test(`.env ${JSON.stringify(text)} is malformed in line ${line}`, () => {
    assert.throws(() => parseEnvFile(text), {
      message: `.env line ${line} is malformed; expected NAME=value, with quotes around a value that contains #, quotes or line breaks`,
    })
  })
}

for (const text of ['A=1\nSECRET=abc\0def\n', 'A=1\nSECRET="abc\0def"\n', '# a comment\n#\0\n']) {
  test(`.env ${JSON.stringify(text)} has a NUL in line 2`, () => {
    assert.throws(() => parseEnvFile(text), {
      message: '.env line 2 contains a NUL character, at which the system would cut the value off',
    })
  })
}

const blanks = ' '.repeat(1_000_000)
for (const text of [`${blanks}"`, `export${blanks}"`, `A=x${blanks}y#z`, `A='x'${blanks}y`]) {
  const title = JSON.stringify(text).replaceAll(/ {9,}/g, '…')
  test(`.env of a million characters is read in linear time: ${title}`, () => {
    assert.throws(() => parseEnvFile(text), /malformed/)
  })
}

test('every quoted value is read exactly as it was written', () => {
  const values = fc.dictionary(
    fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,5}$/),
    fc.string({ unit: fc.constantFrom(...'ab =#"\n\t\\$') }),
  )
  fc.assert(
    fc.property(values, (values) => {
      const lines = Object.entries(values).map(([name, value]) => `${name}='${value}' # it\n`)
      assert.deepEqual(new Map(parseEnvFile(lines.join(''))), new Map(Object.entries(values)))
    }),
  )
})
