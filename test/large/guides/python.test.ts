/** Runs the files and commands in docs/how-to/python.md, and tests with its fixture. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ownService } from '../../support/own-service.js'
import { untilGone } from '../../support/process.js'
import {
  assertShown,
  runInShell,
  snippetsBy,
  snippetsOf,
  startInShell,
} from '../../support/snippets.js'
import { emptyFolder, unlessMissing } from '../../support/tools.js'

const guide = 'docs/how-to/python.md'
const packages = 'import httpx, pytest, requests, simplejson'
/** On Debian, only /usr/bin/python3 finds packages from apt. */
const python = ['python3', '/usr/bin/python3'].find(
  (program) => spawnSync(program, ['-c', packages]).status === 0,
)
const needsPython = unlessMissing(
  python === undefined && 'a Python with httpx, pytest, requests and simplejson',
)
const { sh, python: files } = snippetsBy(guide, ['sh', 'python', 'text'])
const [install = assert.fail(), pytest = assert.fail()] = sh

function folderWith(names: RegExp, change = (text: string) => text) {
  const [cwd, bin] = [emptyFolder(), emptyFolder()]
  const { stdout } = spawnSync('which', [String(python)], { encoding: 'utf8' })
  symlinkSync(stdout.trim(), join(bin, 'python3'))
  for (const { text, place } of files) {
    const [, name] = /^# (\w+\.py)\n/.exec(text) ?? []
    assert.ok(name !== undefined, `the snippet at ${place} has no file name`)
    if (names.test(name)) writeFileSync(join(cwd, name), change(text))
  }
  return { cwd, env: { PATH: `${bin}:${process.env.PATH}`, NO_COLOR: '1' } }
}

test(`${guide}: the tests pass, and the program prints the output shown`, needsPython, async () => {
  const { baseUrl, validToken } = await ownService()
  const local = (text: string) => text.replace('http://localhost:8000/api/v1', baseUrl.href)
  const { cwd, env } = folderWith(/./, local)
  const commands = sh.filter((each) => each !== install)
  assert.match(install.text, /^pip install /)
  const outputs = await runInShell(commands, { cwd, env: { ...env, TOKEN: validToken() } })
  assertShown(snippetsOf(guide), ['', ...outputs], 'text')
  assert.match(outputs[0] ?? '', /^4 passed/m)
})

const hundred = `
import pytest

@pytest.mark.parametrize('n', range(100))
def test_each(store, n):
    items = f'{store.url}/items'
    text = '[{"n": 12345678901234567890}, {"price": 1.10}]'
    ids = store.session.post(f'{store.control}/seed', data=text).json()['ids']
    store.session.post(f'{store.control}/failures', json={'failures': [503], 'method': 'GET'})
    assert store.session.get(items).status_code == 503
    read = store.session.get(items)
    assert [each['id'] for each in read.json()['data']] == ids
    assert '"n": 12345678901234567890}' in read.text and '"price": 1.10}' in read.text
    sent = store.session.get(f'{store.control}/requests').json()['requests']
    assert [(each['method'], each['status']) for each in sent] == [('GET', 503), ('GET', 200)]
`

test('pytest: 100 tests seed, break, check and reset a store', needsPython, async (t) => {
  const { cwd, env } = folderWith(/conftest/)
  writeFileSync(join(cwd, 'test_hundred.py'), hundred)
  const [output = ''] = await runInShell([pytest], { cwd, env })
  const [passed = assert.fail(output)] = /^100 passed in .*/m.exec(output) ?? []
  t.diagnostic(passed)
})

test('pytest: the store stops when pytest is killed', needsPython, async () => {
  const { cwd, env } = folderWith(/conftest/)
  const killed = `
import os

def test_killed(store):
    os.write(1, f'[{store.url}]'.encode())
    os.kill(os.getpid(), 9)
`
  writeFileSync(join(cwd, 'test_killed.py'), killed)
  const run = startInShell({ ...pytest, text: pytest.text.replace('-q', '-qs') }, { cwd, env })
  const [, url = ''] = /\[(http.*)\]/.exec(await run.printed(/\[http.*\]/)) ?? []
  await untilGone(url)
})
