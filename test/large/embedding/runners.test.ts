/** The examples of docs/how-to/testing.md, each run by its test runner with the published package. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { cleanEnvironment, install, pack } from '../../support/tarball.js'
import { root, toolsFolder } from '../../support/tools.js'

const runners = [
  {
    name: 'node:test',
    file: 'items.test.js',
    args: ['--test', '--test-reporter=tap'],
    one: { passed: /^# pass 1$/m, failed: /^# fail 1$/m },
  },
  {
    name: 'Vitest',
    file: 'items.vitest.js',
    package: 'vitest',
    config: {
      file: 'vitest.config.js',
      text: "export default { test: { include: ['*.vitest.js'] } }",
    },
    args: ['node_modules/vitest/vitest.mjs', 'run'],
    one: { passed: /Tests .*1 passed/, failed: /Tests .*1 failed/ },
  },
  {
    name: 'Jest',
    file: 'items.jest.js',
    package: 'jest',
    config: {
      file: 'jest.config.js',
      text: "export default { testMatch: ['**/*.jest.js'], transform: {}, watchman: false }",
    },
    args: ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'],
    one: { passed: /Tests: .*1 passed/, failed: /Tests: .*1 failed/ },
  },
  {
    name: 'Playwright',
    file: 'items.playwright.js',
    package: '@playwright/test',
    config: {
      file: 'playwright.config.js',
      text: "export default { testMatch: '*.playwright.js', reporter: 'line' }",
    },
    args: ['node_modules/@playwright/test/cli.js', 'test'],
    one: { passed: /^ *1 passed/m, failed: /^ *1 failed/m },
  },
]

describe('docs/how-to/testing.md', () => {
  const folder = install(pack())
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')

  test('the first example prints where the store is, and a token', () => {
    const guide = readFileSync(join(root, 'docs/how-to/testing.md'), 'utf8')
    writeFileSync(join(folder, 'first.js'), guide.split('```js\n')[1]?.split('```')[0] ?? '')
    const { status, output } = run(folder, ['first.js'])
    assert.match(output, /^http:\/\/127\.0\.0\.1:\d+\/api\/v1\n[\w-]+\.[\w-]+\.[\w-]+\n$/)
    assert.equal(status, 0)
  })

  for (const { name, file, package: runner, config, args, one } of runners) {
    test(`the example for ${name} passes, and fails with another item`, () => {
      const example = exampleIn(file)
      if (runner !== undefined) link(folder, runner)
      if (config !== undefined) writeFileSync(join(folder, config.file), config.text)

      writeFileSync(join(folder, file), example)
      writeFileSync(
        join(folder, `other-${file}`),
        example.replace("name: 'Ladder'", "name: 'Lamp'"),
      )
      const { status, output } = run(folder, args)
      assert.match(output, one.passed)
      assert.match(output, one.failed)
      assert.equal(status, 1)
    })
  }
})

/** The code block of the guide that begins with the name of a file. */
function exampleIn(file: string): string {
  const guide = readFileSync(join(root, 'docs/how-to/testing.md'), 'utf8')
  const [, ...blocks] = guide.split('```js\n')
  const example = blocks.find((block) => block.startsWith(`// ${file}\n`))?.split('```')[0]
  assert.ok(example, `docs/how-to/testing.md has no ${file}`)
  return example
}

/** Runs Node.js to its end, at most two minutes, in a folder. */
function run(folder: string, args: string[]): { status: number | null; output: string } {
  const { NODE_TEST_CONTEXT: _, ...env } = cleanEnvironment() // this test is not its parent
  const options = { cwd: folder, env, encoding: 'utf8', timeout: 120_000 } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options)
  return { status, output: `${stdout}${stderr}` }
}

/** Makes a package of the test tools available to the project. */
function link(folder: string, name: string): void {
  const place = join(folder, 'node_modules', name)
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(join(toolsFolder, 'node_modules', name), place)
}
