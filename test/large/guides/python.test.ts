/** Runs the files and commands in docs/how-to/python.md, and tests with its fixture. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { untilGone } from '../../support/process.js'
import { folderOf, runInShell, snippetsBy, startInShell } from '../../support/snippets.js'
import { unlessMissing } from '../../support/tools.js'

const guide = 'docs/how-to/python.md'
const [, pytest = ''] = snippetsBy(guide, ['sh', 'python']).sh
const packages = 'import httpx, pytest, requests, simplejson'
/** On Debian, only /usr/bin/python3 finds packages from apt. */
const PATH = [process.env.PATH, `/usr/bin:${process.env.PATH}`].find(
  (PATH) => spawnSync('python3', ['-c', packages], { env: { PATH } }).status === 0,
)
const needsPython = unlessMissing(
  PATH === undefined && 'a Python with httpx, pytest, requests and simplejson',
)

function placeWith(name: string, text: string) {
  const cwd = folderOf(guide)
  writeFileSync(join(cwd, name), text)
  return { cwd, env: { PATH, NO_COLOR: '1' } }
}

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

test(
  `${guide}: its 4 tests pass, and 100 that seed, break, check and reset a store`,
  needsPython,
  async (t) => {
    const [output = ''] = await runInShell([pytest], placeWith('test_hundred.py', hundred))
    t.diagnostic(/^104 passed in .*/m.exec(output)?.[0] ?? assert.fail(output))
  },
)

const killed = `
import os

def test_killed(store):
    os.write(1, f'[{store.url}]'.encode())
    os.kill(os.getpid(), 9)
`

test(`${guide}: the store stops when pytest is killed`, needsPython, async () => {
  const run = startInShell(pytest.replace('-q', '-qs'), placeWith('test_killed.py', killed))
  const [, url = ''] = /\[(http.*)\]/.exec(await run.printed(/\[http.*\]/)) ?? []
  await untilGone(url)
})
