import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEnvFile } from './env-file.js'

/** Files, with the values that dotenv 16 to 18 and python-dotenv 0.21 to 1.2 find in them. */
const files: { text: string; values: Record<string, string> }[] = [
  { text: '\n  \n# a comment\n\t# another = one\n', values: {} },
  { text: 'A="1"\r\nexport B = two words \r\n', values: { A: '1', B: 'two words' } },
  { text: 'A=\nB= \nC=3', values: { A: '', B: '', C: '3' } },
  { text: 'A=1 # a comment\nB="a # b"# a "comment"\n', values: { A: '1', B: 'a # b' } },
  { text: 'A="x\ny=z\n#"\nB=\'1\r\n2\'\n', values: { A: 'x\ny=z\n#', B: '1\n2' } },
  { text: "A=it's=so\nB.c-d=1\n2=$x", values: { A: "it's=so", 'B.c-d': '1', 2: '$x' } },
  {
    text: 'A="1\\n2\\r\\d"\nB=1\\n2\nC=\'1\\n2\'',
    values: { A: '1\n2\r\\d', B: '1\\n2', C: '1\\n2' },
  },
  { text: '\u00a0A=1\nB\u00a0=\u00a0"2"\u00a0# c\nC=3\u00a0#', values: { A: '1', B: '2', C: '3' } },
  { text: 'PORT\nexport PORT # a name without a value\nA=1', values: { A: '1' } },
  { text: "A='\"$ # =`\n\t'", values: { A: '"$ # =`\n\t' } },
  { text: '__proto__=1', values: JSON.parse('{"__proto__":"1"}') },
]

for (const { text, values } of files) {
  test(`.env ${JSON.stringify(text)} is parsed`, () => {
    assert.deepEqual(Object.fromEntries(parseEnvFile(text)), values)
  })
}

test('.env with an empty value before a comment is parsed like dotenv does, unlike python-dotenv', () => {
  assert.equal(parseEnvFile('PORT= # a comment').get('PORT'), '')
})

/** Lines that dotenv and python-dotenv read differently, or that one of them cannot read. */
const disputed = [
  ...['NAME=a#b', 'NAME=#fff', 'NAME=https://x/#/login', 'NAME=`x`', 'NAME=x${', "NAME='${'"],
  ...['NAME="{\\"a\\":1}"', 'NAME="a\\\\"', "NAME='a\\\\b'", "NAME='a\\'b'", 'NAME="a\\tb"'],
  ...[
    'NAME="x',
    'NAME="x" y',
    "NAME='x' 'y'",
    'NAME: x',
    'NAME x',
    'export NAME x',
    'NAME=x\ufffd',
  ],
  ...['NAME=x\u00a0', 'NAME=x\u00a0 # y', 'NAME=\u00a0x'], // both cut the ends off, which a secret may need
]

for (const line of disputed) {
  test(`.env line ${JSON.stringify(line)} is skipped, but is an error for a variable of the service`, () => {
    const file = (name: string) => `# it\n${line.replace('NAME', name)}\nHOST=x\n`
    assert.deepEqual(Object.fromEntries(parseEnvFile(file('COLOR'))), { HOST: 'x' })
    for (const name of ['JWT_SECRET', 'JWT_SECRET_FILE', 'JWT_ALGORITHM', 'PORT']) {
      assert.throws(() => parseEnvFile(file(name)), {
        message: `.env line 2 has no clear value for ${name}; expected ${name}='value', without quotes or backslashes in the value`,
      })
    }
  })
}

for (const text of ['A=1\nSECRET=abc\0def\n', 'A=1\nSECRET="abc\0def"\n', '# a comment\n#\0\n']) {
  test(`.env ${JSON.stringify(text)} has a NUL in line 2`, () => {
    const message = '.env line 2 contains a NUL character; save the file as UTF-8'
    assert.throws(() => parseEnvFile(text), { message })
  })
}
