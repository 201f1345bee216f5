/** Tests the error message for old versions of Node.js and for other runtimes. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { cli } from './support/own-service.js'
import { manifest, root } from './support/tools.js'

const [, oldest = ''] = /^>=(\d+\.\d+)\.0$/.exec(manifest.engines.node) ?? []
const [major = 0, minor = 0] = oldest.split('.').map(Number)

function runAs(version: string, args: string[], runtime = 'node') {
  const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, ${runtime}: '${version}' } })`
  const pretend = `--import=data:text/javascript,${encodeURIComponent(code)}`
  const { status, stdout, stderr } = spawnSync(process.execPath, [pretend, ...args], {
    cwd: root,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

function errorOfImport(file: string, version: string, runtime?: string): string {
  const url = pathToFileURL(join(root, 'dist', file)).href
  const program = `await import('${url}').catch(({ message }) => console.log(message))`
  return runAs(version, ['--input-type=module', '--eval', program], runtime).stdout
}

test('the library on an old Node.js: an error that names the oldest supported version', () => {
  for (const version of [`${major}.${minor - 1}.9`, `${major - 1}.${minor + 1}.0`]) {
    const says = `item-store: needs Node.js ${oldest} or newer, this is ${version}\n`
    assert.equal(errorOfImport('index.js', version), says)
  }
  for (const version of [`${major}.${minor}.0`, `${major + 6}.0.0`]) {
    assert.equal(errorOfImport('index.js', version), '', version)
  }
})

for (const [runtime, name] of [
  ['bun', 'Bun'],
  ['deno', 'Deno'],
] as const) {
  test(`${name}: the command and the library say that they need Node.js, and the client loads`, () => {
    const says = `item-store: needs Node.js, this is ${name} 1.4.5; only item-store/client runs here\n`
    assert.deepEqual(runAs('1.4.5', [cli, 'dev'], runtime), { status: 2, stdout: '', stderr: says })
    assert.equal(errorOfImport('index.js', '1.4.5', runtime), says)
    assert.equal(errorOfImport('client.js', '1.4.5', runtime), '')
  })
}
