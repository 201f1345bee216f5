import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { UsageError } from '../usage-error.js'
import { readSecretFile } from './secret-file.js'

const folder = mkdtempSync(join(tmpdir(), 'item-store-'))

function fileWith(name: string, content: string | Buffer, mode = 0o600): string {
  const file = join(folder, name)
  writeFileSync(file, content)
  chmodSync(file, mode) // whatever the umask
  return file
}

test('a missing file is made with a random secret, for its owner alone, and read again', () => {
  const file = join(folder, 'new')
  const secret = readSecretFile(file)
  assert.match(secret, /^[\w-]{43}$/)
  assert.equal(readFileSync(file, 'utf8'), `${secret}\n`)
  if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(readSecretFile(file), secret)
  assert.notEqual(readSecretFile(join(folder, 'other')), secret)
})

for (const [what, content, secret] of [
  ['a line break at the end', 'hush\n', 'hush'],
  ['CR LF at the end', 'hush\r\n', 'hush'],
  ['no line break', 'hush', 'hush'],
  ['other white space', ' hush \n\n', ' hush \n'],
] as const) {
  test(`the secret of a file with ${what}`, () => {
    assert.equal(readSecretFile(fileWith(what.replaceAll(' ', '-'), content)), secret)
  })
}

const refused = [
  { file: fileWith('empty', ''), says: /empty is empty; remove it/ },
  { file: fileWith('blank', '\n'), says: /blank is empty; remove it/ },
  { file: fileWith('spaces', ' \t\n \n'), says: /spaces is empty; remove it/ },
  { file: fileWith('bytes', Buffer.from([0x68, 0xff])), says: /bytes is not text in UTF-8$/ },
  { file: fileWith('nul', 'a\0b'), says: /nul is not text in UTF-8$/ },
  { file: folder, says: /cannot be read: EISDIR/ },
  { file: join(folder, 'missing/new'), says: /cannot be made: ENOENT/ },
  { file: '', says: /cannot be made: ENOENT/ },
]
for (const { file, says } of refused) {
  test(`refused: ${says}`, () => {
    assert.throws(
      () => readSecretFile(file),
      (error) => {
        assert.ok(error instanceof UsageError)
        assert.match(error.message, /^the secret file /)
        assert.match(error.message, says)
        return true
      },
    )
  })
}

for (const mode of [0o644, 0o640, 0o604, 0o620, 0o660]) {
  const shown = mode.toString(8)
  const skip = process.platform === 'win32' && 'modes say nothing on Windows'

  test(`refused: a file of mode ${shown}, and it is left as it is`, { skip }, () => {
    const file = fileWith(`mode-${shown}`, 'hush\n', mode)
    assert.throws(
      () => readSecretFile(file),
      (error) => {
        assert.ok(error instanceof UsageError)
        assert.ok(
          error.message.endsWith(
            `is open to others (mode ${shown}); close it with: chmod 600 ${file}`,
          ),
        )
        assert.doesNotMatch(error.message, /hush/)
        return true
      },
    )
    assert.ok(existsSync(file))
    assert.equal(statSync(file).mode & 0o777, mode)
  })
}
