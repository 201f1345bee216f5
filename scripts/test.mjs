/**
 * `npm test`: makes ready (which checks the types), then formatter, linter and all tests.
 * `npm run conformance`: the conformance tests alone.
 */

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { makeReady, root, run } from './ready.mjs'

const [folder = ''] = process.argv.slice(2)

makeReady()
if (folder === '') {
  run(process.execPath, [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'check', '.'])
}
const tests = readdirSync(join(root, 'dist'), { recursive: true })
  .filter((file) => file.endsWith('.test.js') && file.includes(folder))
  .map((file) => join('dist', file))
  .sort()
const options = ['--enable-source-maps', '--test', `--test-concurrency=${availableParallelism()}`]
const { status } = spawnSync(process.execPath, [...options, ...tests], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
})
process.exit(status ?? 1)
