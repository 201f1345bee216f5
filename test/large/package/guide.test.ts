/** docs/how-to/install.md, followed to the letter in two folders side by side. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertShown, snippetsOf } from '../../support/snippets.js'
import { cleanEnvironment, emptyFolder } from '../../support/tarball.js'
import { root } from '../../support/tools.js'

test('docs/how-to/install.md: the package of a clone is installed beside it, and runs', () => {
  const file = 'docs/how-to/install.md'
  const folder = emptyFolder()
  const [clone, project] = [join(folder, 'item-store'), join(folder, 'project')]
  for (const each of [clone, project]) mkdirSync(each)
  // The clone is this repository; only the tarball is put elsewhere, so that it is left clean.
  const env = { ...cleanEnvironment(), npm_config_pack_destination: clone }
  const commands = snippetsOf(file).filter(({ language }) => language === 'sh')
  const outputs = commands.map(({ text, place }) => {
    const cwd = text.startsWith('npm pack') ? root : project
    const quick = { npm_config_prefer_offline: 'true', npm_config_audit: 'false' }
    const options = { cwd, env: { ...env, ...quick }, encoding: 'utf8', timeout: 150_000 } as const
    const { status, stdout, stderr } = spawnSync('bash', ['-ec', text], options)
    assert.equal(status, 0, `${place}: ${stderr}`)
    return stdout
  })
  assert.equal(outputs.length, 3)
  assertShown(snippetsOf(file), outputs, 'text')
})
