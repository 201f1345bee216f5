/** Tests the steps in docs/how-to/testing.md, and the embedded store with fake timers and in browser-like environments. */

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { executablePath, inChromium } from '../../support/chromium.js'
import { outputOf } from '../../support/process.js'
import { saveFiles, snippetsIn } from '../../support/snippets.js'
import { pack, unpack } from '../../support/tarball.js'
import {
  cleanEnvironment,
  emptyFolder,
  readText,
  root,
  toolCommand,
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

const [guide = ''] = readText('docs/how-to/testing.md').split('\n## Other languages')
const [, ...sections] = guide.split(/^## /m)

describe('docs/how-to/testing.md', () => {
  const unpacked = unpack(pack())
  // The dependencies are only linked here. test/large/package/install.test.ts tests their installation.
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (/^[.]|^item-store$/.test(name)) continue
    symlinkSync(join(root, 'node_modules', name), join(unpacked, '..', name))
  }

  for (const section of sections) {
    const [title = ''] = section.split('\n', 1)
    test(`${title}: the example passes`, title === 'Playwright' ? inChromium : {}, () => {
      const snippets = snippetsIn(section)
      const command = snippets.findLast(({ language }) => language === 'sh')?.text ?? ''
      const [, name] = /^npm install --save-dev (.*)$/m.exec(command) ?? []
      const folder = newProject(snippets, name === undefined ? [] : [name])
      const use = { launchOptions: { executablePath, args: ['--no-sandbox'] } }
      const config = `export default ${JSON.stringify({ use })}`
      writeFileSync(join(folder, 'playwright.config.js'), config)
      const withoutInstall = command.replaceAll(/^(npm|npx playwright) install .*\n/gm, '')
      assertPasses(folder, withoutInstall, success.get(title) ?? assert.fail('a new section'))
    })
  }

  for (const [runner, command, passed, ...files] of runners) {
    test(`${runner}: with and without fake timers, the store answers and stops`, () => {
      const tools = ['vitest', 'jest', 'jest-environment-jsdom']
      const folder = newProject(
        files.map((text) => ({ text })),
        tools,
      )
      const scenario = readText('build/test/large/embedding/scenario.js')
      writeFileSync(join(folder, 'scenario.js'), scenario.replace(/^\/\/# sourceMapping.*/m, ''))
      assertPasses(folder, `PATH="$PWD/node_modules/.bin:$PATH" ${command}`, passed)
    })
  }

  test('Vitest: the types are right', () => {
    const section = sections.find((text) => text.startsWith('Vitest\n')) ?? ''
    const folder = newProject(snippetsIn(section), ['vitest'])
    const args = [
      ...[tsc, '--noEmit', '--strict', '--noUncheckedIndexedAccess', '--skipLibCheck'],
      ...['--target', 'es2023', '--module', 'nodenext', '--types', 'node'],
      ...['--typeRoots', join(root, 'node_modules/@types'), 'items.test.ts'],
    ]
    outputOf(process.execPath, args, { cwd: folder })
  })

  /** Creates a project with this package, these files and links to the tools. */
  function newProject(files: readonly { text: string }[], tools: readonly string[]): string {
    const folder = emptyFolder()
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    saveFiles(folder, files)
    const packages = join(folder, 'node_modules')
    mkdirSync(join(packages, '.bin'), { recursive: true })
    symlinkSync(unpacked, join(packages, 'item-store'))
    for (const name of tools) {
      mkdirSync(dirname(join(packages, name)), { recursive: true })
      symlinkSync(join(toolsFolder, 'node_modules', name), join(packages, name))
    }
    for (const command of ['vitest', 'jest', 'playwright']) {
      symlinkSync(toolCommand(command), join(packages, '.bin', command))
    }
    return folder
  }
})

function assertPasses(cwd: string, command: string, passed: RegExp): void {
  const { NODE_TEST_CONTEXT: _, FORCE_COLOR: _color, ...env } = cleanEnvironment() // the command must not report to this test run
  const offline = { ...env, NO_COLOR: '1', npm_config_offline: 'true' } // npx must use installed tools and not download them
  const output = outputOf('bash', ['-ec', `exec 2>&1\n${command}`], { cwd, env: offline })
  assert.match(output, passed)
}
