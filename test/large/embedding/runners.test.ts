/** Tests the steps in docs/how-to/testing.md, and the embedded store with fake timers and in browser-like environments. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { executablePath, inChromium } from '../../support/chromium.js'
import { pack, unpack } from '../../support/tarball.js'
import {
  cleanEnvironment,
  emptyFolder,
  readText,
  root,
  toolsFolder,
  tsc,
} from '../../support/tools.js'

/** Output of a section's test runner if the example in the section passes, by the section's title. */
const success = new Map([
  ['node:test', /^[#ℹ] pass 1$/m],
  ['Vitest', /Tests .*1 passed/],
  ['Jest', /Tests: .*1 passed/],
  ['Jest with CommonJS', /Tests: .*1 passed/],
  ['Playwright', /^ *1 passed/m],
])

/** Test files that run `scenario` in a runner: without fake timers, with all of them, and with one at a time. */
const runners: [runner: string, command: string, passed: RegExp, ...files: string[]][] = [
  [
    'node:test',
    'node --test fakes.test.js',
    /^[#ℹ] pass 6$/m,
    `// fakes.test.js
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { startItemStore } from 'item-store'
import { expected, scenario } from './scenario.js'
for (const apis of [[], undefined, ['setTimeout'], ['setInterval'], ['setImmediate'], ['Date']]) {
  test(String(apis), async (t) => {
    t.after(() => mock.timers.reset())
    const fake = () => apis?.length !== 0 && mock.timers.enable(apis && { apis })
    assert.equal(await scenario(startItemStore, fake, apis ? 0 : 1), expected)
  })
}`,
  ],
  [
    'Vitest (threads and vmThreads; node, happy-dom and jsdom)',
    'vitest run',
    /^ *Tests +38 passed/m,
    `// vitest.config.js
const environments = ['node', 'happy-dom', 'jsdom']
const projects = ['threads', 'vmThreads'].flatMap((pool) =>
  environments.map((environment) => ({ test: { name: pool + environment, pool, environment, testTimeout: 60_000 } })))
export default { test: { projects } }`,
    `// fakes.test.js
import { startItemStore } from 'item-store'
import { afterEach, expect, test, vi } from 'vitest'
import { expected, scenario } from './scenario.js'
afterEach(() => vi.useRealTimers())
// nextTick is missing here: with a fake one, Node's own connections stop.
const all = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate']
all.push('queueMicrotask', 'performance', 'Date', 'hrtime')
const each = typeof window === 'undefined' ? all.map((name) => [name]) : []
for (const toFake of [[], undefined, all, ...each]) {
  test(String(toFake), async () => {
    const fake = () => toFake?.length !== 0 && vi.useFakeTimers(toFake && { toFake })
    expect(await scenario(startItemStore, fake, toFake ? 0 : 1)).toBe(expected)
  })
}`,
  ],
  [
    'Jest (node and jsdom)',
    'NODE_OPTIONS=--experimental-vm-modules jest',
    /^Tests: +15 passed/m,
    `// jest.config.js
const environments = ['node', 'jsdom']
const projects = environments.map((testEnvironment) => ({ testEnvironment }))
export default { projects, testTimeout: 60_000 }`,
    `// fakes.test.js
import { startItemStore } from 'item-store'
import { expected, scenario } from './scenario.js'
const { jest } = import.meta
afterEach(() => jest.useRealTimers())
const all = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate']
all.push('queueMicrotask', 'performance', 'Date', 'hrtime', 'nextTick')
const each = typeof window === 'undefined' ? all : []
for (const only of [undefined, 'all', ...each]) {
  test(String(only), async () => {
    const doNotFake = only === 'all' ? [] : all.filter((name) => name !== only)
    const fake = () => only && jest.useFakeTimers({ doNotFake })
    expect(await scenario(startItemStore, fake, only === 'all' ? 1 : 0)).toBe(expected)
  })
}`,
  ],
]

const guide = readText('docs/how-to/testing.md')
const [, ...texts] = guide.replace(/^## Other .*/ms, '').split(/^## /m)

describe('docs/how-to/testing.md', () => {
  const unpacked = unpack(pack())
  // The dependencies are only linked here. test/large/package/install.test.ts tests their installation.
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (/^[.]|^item-store$/.test(name)) continue
    symlinkSync(join(root, 'node_modules', name), join(unpacked, '..', name))
  }

  for (const text of texts) {
    const [title = ''] = text.split('\n', 1)
    const needs = title === 'Playwright' ? inChromium : {}
    test(`${title}: the example passes`, needs, () => {
      const { output, status } = followIn(newProject(), text)
      assert.match(output, success.get(title) ?? assert.fail('a new section'))
      assert.equal(status, 0, output)
    })
  }

  for (const [runner, command, passed, ...files] of runners) {
    test(`${runner}: with and without fake timers, the store answers and stops`, () => {
      const folder = newProject()
      const scenario = readText('build/test/large/embedding/scenario.js')
      writeFileSync(join(folder, 'scenario.js'), scenario.replace(/^\/\/# sourceMapping.*/m, ''))
      writeFiles(folder, files.map((file) => `\`\`\`js\n${file}\n\`\`\`\n`).join(''))
      for (const name of ['vitest', 'jest', 'jest-environment-jsdom']) linkTool(folder, name)
      const { output, status } = run(folder, `PATH="$PWD/node_modules/.bin:$PATH" ${command}`)
      assert.match(output, passed)
      assert.equal(status, 0, output)
    })
  }

  test('Vitest: the types are right', () => {
    const folder = newProject()
    writeFiles(folder, texts.find((text) => text.startsWith('Vitest\n')) ?? '')
    linkTool(folder, 'vitest')
    const args = [
      ...[tsc, '--noEmit', '--strict', '--noUncheckedIndexedAccess', '--skipLibCheck'],
      ...['--target', 'es2023', '--module', 'nodenext', '--types', 'node'],
      ...['--typeRoots', join(root, 'node_modules/@types'), 'items.test.ts'],
    ]
    const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    assert.equal(stdout, '')
  })

  function followIn(folder: string, text: string) {
    writeFiles(folder, text)
    let last: ReturnType<typeof run> = { output: '', status: null }
    for (const [, command = ''] of text.matchAll(/^```sh\n(.*?)^```$/gms)) {
      const [, name] = /^npm install --save-dev (.*)$/m.exec(command) ?? []
      if (name !== undefined) linkTool(folder, name)
      if (name === '@playwright/test') useChromium(folder)
      last = run(folder, command.replaceAll(/^(npm|npx playwright) install .*\n/gm, ''))
    }
    return last
  }

  function useChromium(folder: string): void {
    const use = { launchOptions: { executablePath, args: ['--no-sandbox'] } }
    writeFileSync(join(folder, 'playwright.config.js'), `export default ${JSON.stringify({ use })}`)
  }

  function newProject(): string {
    const folder = emptyFolder()
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
    symlinkSync(unpacked, join(folder, 'node_modules/item-store'))
    return folder
  }
})

function writeFiles(folder: string, text: string): void {
  const files = text.matchAll(/^```(?:[jt]s|html)\n(?:\/\/|<!--) (\S+)(?: -->)?\n(.*?)^```$/gms)
  for (const [, name = '', code = ''] of files) {
    writeFileSync(join(folder, name), code)
  }
}

function linkTool(folder: string, name: string): void {
  const place = join(folder, 'node_modules', name)
  if (existsSync(place)) return
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(join(toolsFolder, 'node_modules', name), place)
  const bin = name === '@playwright/test' ? 'playwright' : basename(name)
  symlinkSync(join(toolsFolder, 'node_modules/.bin', bin), join(folder, 'node_modules/.bin', bin))
}

function run(folder: string, command: string) {
  const { NODE_TEST_CONTEXT: _, FORCE_COLOR: _color, ...env } = cleanEnvironment() // the command must not report to this test run
  const offline = { ...env, NO_COLOR: '1', npm_config_offline: 'true' } // npx must use installed tools and not download them
  const options = { cwd: folder, env: offline, encoding: 'utf8', timeout: 600_000 } as const
  const { status, stdout, stderr } = spawnSync('bash', ['-ec', command], options)
  return { status, output: `${stdout}${stderr}` }
}
