/**
 * `npm test`: builds (which checks the types), then runs the formatter, the linter, the conformance tests
 * and, if these pass, all others.
 * `npm test -- NAME`: runs only the test files whose path contains the name.
 */

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installTestTools, makeReady, root, run } from './ready.mjs'

/** Maximum time for a test file, in milliseconds; the slowest takes a minute on a busy machine. */
const timeout = 180_000
/** Files at a time: they wait for more than half of the time that they take. */
const concurrency = 3 * availableParallelism()

const names = process.argv.slice(2)

makeReady()
installTestTools()
const tests = readdirSync(join(root, 'build'), { recursive: true })
  .filter((file) => file.endsWith('.test.js'))
  .map((file) => file.split(sep).join('/'))
  .filter((file) => names.every((name) => file.includes(name.replace(/\.ts$/, '.js'))))
  .sort()
if (tests.length === 0) {
  process.stderr.write(`npm test: no test file has ${names.join(' and ')} in its path\n`)
  process.exit(2)
}
if (names.length === 0) {
  run(process.execPath, [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'check', '.'])
}
const options = [
  '--enable-source-maps',
  '--test',
  `--test-concurrency=${concurrency}`,
  `--test-timeout=${timeout}`,
  `--import=${pathToFileURL(join(root, 'scripts/test-errors.mjs'))}`,
  `--test-reporter=${join(root, 'scripts/test-reporter.mjs')}`,
]
const isConformance = (file) => file.startsWith('test/conformance/')
runTests(tests.filter(isConformance))
// A service that answers wrongly, or not at all, would take the other tests many times their time.
runTests(tests.filter((file) => !isConformance(file)))

/** Runs test files; if one fails, this process ends with an exit code that says so. */
function runTests(files) {
  if (files.length === 0) return
  const paths = files.map((file) => join('build', file))
  const { status } = spawnSync(process.execPath, [...options, ...paths], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) process.exit(status ?? 1)
}
