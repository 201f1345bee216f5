import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { emptyFolder } from '../../test/support/tools.js'
import { secretFile } from './secret-file.js'

test('a change to the file counts once two reads have found the same text', async (t) => {
  let read = async () => {}
  t.mock.method(globalThis, 'setTimeout', (callback: typeof read) => {
    read = callback
    return { unref() {} }
  })
  const path = join(emptyFolder(), 'secrets')
  writeFileSync(path, 'one')
  const file = secretFile(path)
  await file.firstRead
  const found: [text: string, secret: string][] = [
    ['', 'one'],
    ['one', 'one'],
    ['', 'one'],
    ['tw', 'one'],
    ['two', 'one'],
    ['two', 'two'],
  ]
  for (const [text, secret] of found) {
    writeFileSync(path, text)
    await read()
    assert.deepEqual([file.secrets, file.problem], [[secret], undefined])
  }
})
