/** `npm version` runs this script before it commits, to write the new version and the date into CHANGELOG.md. */

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const file = 'CHANGELOG.md'
const changes = readFileSync(file, 'utf8')
const entry = `## ${process.env.npm_new_version} (${new Date().toISOString().slice(0, 10)})`
const released = changes.replace(/^## Unreleased\n\n(?!## |$)/m, `## Unreleased\n\n${entry}\n\n`)

if (readFileSync('package.json', 'utf8').includes('/OWNER/')) {
  fail('package.json names no repository yet; replace OWNER')
}
if (released === changes) fail(`${file} has no unreleased changes`)
writeFileSync(file, released)
execFileSync('git', ['add', file])

/** @param {string} problem */
function fail(problem) {
  process.stderr.write(`npm version: ${problem}\n`)
  process.exit(1)
}
