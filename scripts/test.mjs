/**
 * `npm test`: runs all tests except the large ones. `npm run test:all`: runs all tests.
 * `npm test -- NAME`: runs the test files, large or not, whose path contains the name.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import os from 'node:os'
import { join, sep } from 'node:path'
import { install, makeReady, root } from './ready.mjs'
import { useTemporaryFolder } from './temporary-folder.mjs'

const timeout = 900_000 // ms for each test file, in case it hangs
const concurrency = 3 * os.availableParallelism() // test files, which mostly wait

const args = process.argv.slice(2)
const names = args.filter((arg) => arg !== '--all')
const wanted = names.map((name) => name.replace(/\.ts$/, '.js'))

makeReady()
const tests = readdirSync(join(root, 'build'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js'))
  .map((file) => file.split(sep).join('/'))
  .filter((file) => names.length === 0 || wanted.some((name) => file.includes(name)))
  .sort()
if (tests.length === 0) {
  process.stderr.write(`npm test: no test file has ${names.join(' or ')} in its path\n`)
  process.exit(2)
}

useTemporaryFolder()
const large = tests.filter((file) => file.startsWith('test/large/'))
const chosen = args.length > 0 ? tests : tests.filter((file) => !large.includes(file))
const conformance = chosen.filter((file) => file.startsWith('test/conformance/'))
if (args.length > 0 && large.length > 0) install('tools')
if (names.length === 0) {
  await Promise.all([
    runNode(['node_modules/@biomejs/biome/bin/biome', 'check', '.']),
    runNode(['node_modules/typescript/bin/tsc', '--project', 'scripts']),
    runNode(['node_modules/typescript/bin/tsc', '--project', 'bench', '--noEmit']),
  ])
}
await runTests(conformance) // runs first, because a broken service would make all other tests slow
await runTests(chosen.filter((file) => !conformance.includes(file)))

/** @param {string[]} files */
async function runTests(files) {
  if (files.length === 0) return
  await runNode([
    '--enable-source-maps',
    '--test',
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${timeout}`,
    '--test-reporter=spec',
    ...files.map((file) => join('build', file)),
  ])
}

/** Runs Node.js; if it fails, ends this process with its exit code. @param {string[]} args */
async function runNode(args) {
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.once(signal, () => child.kill(signal))
  }
  const [code] = await once(child, 'exit')
  if (code !== 0) process.exit(code ?? 1)
}
