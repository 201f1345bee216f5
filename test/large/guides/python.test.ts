/** Runs the files and commands in docs/how-to/python.md. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ownService } from '../../support/own-service.js'
import { assertShown, runInShell, snippetsBy, snippetsOf } from '../../support/snippets.js'
import { emptyFolder, unlessMissing } from '../../support/tools.js'

const guide = 'docs/how-to/python.md'
const packages = 'import httpx, pytest, requests, simplejson'
/** On Debian, only /usr/bin/python3 finds packages that apt installed. */
const python = ['python3', '/usr/bin/python3'].find(
  (program) => spawnSync(program, ['-c', packages]).status === 0,
)

test(
  `${guide}: the tests pass, and the program prints the output shown`,
  unlessMissing(python === undefined && 'a Python with httpx, pytest, requests and simplejson'),
  async () => {
    const { sh, python: files } = snippetsBy(guide, ['sh', 'python', 'text'])
    const [cwd, bin] = [emptyFolder(), emptyFolder()]
    const { stdout } = spawnSync('which', [String(python)], { encoding: 'utf8' })
    symlinkSync(stdout.trim(), join(bin, 'python3'))
    const { baseUrl, validToken } = await ownService()
    for (const { text, place } of files) {
      const [, name] = /^# (\w+\.py)\n/.exec(text) ?? []
      assert.ok(name !== undefined, `the snippet at ${place} has no file name`)
      writeFileSync(join(cwd, name), text.replace('http://localhost:8000/api/v1', baseUrl.href))
    }
    const [install, ...commands] = sh
    assert.match(install?.text ?? '', /^pip install /)
    const env = { PATH: `${bin}:${process.env.PATH}`, TOKEN: validToken(), NO_COLOR: '1' }
    const outputs = await runInShell(commands, { cwd, env })
    assertShown(snippetsOf(guide), ['', ...outputs], 'text')
    assert.match(outputs[0] ?? '', /^3 passed/m)
  },
)
