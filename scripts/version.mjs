/** `npm version` runs this script before it commits, to write the new version and the date into the documents. */

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const { npm_old_version: old = '', npm_new_version: version = '' } = process.env
const today = new Date().toISOString().slice(0, 10)

if (readFileSync('package.json', 'utf8').includes('/OWNER/')) {
  fail('package.json names no repository yet; replace OWNER')
}
replaceIn(
  'CHANGELOG.md',
  /^## Unreleased\n\n(?!## |$)/m,
  `## Unreleased\n\n## ${version} (${today})\n\n`,
)
replaceIn('README.md', /^Version [^(]*\(/m, `Version ${version} (`)
replaceIn('docs/how-to/dev.md', `item-store-${old}.tgz`, `item-store-${version}.tgz`)
replaceIn('docs/how-to/dev.md', `\n${old}\n`, `\n${version}\n`)

/** @param {string} file @param {string | RegExp} text @param {string} replacement */
function replaceIn(file, text, replacement) {
  const before = readFileSync(file, 'utf8')
  const parts = before.split(text)
  if (parts.length === 1) fail(`${file} has nothing that matches ${JSON.stringify(String(text))}`)
  writeFileSync(file, parts.join(replacement))
  execFileSync('git', ['add', file])
}

/** @param {string} problem */
function fail(problem) {
  process.stderr.write(`npm version: ${problem}\n`)
  process.exit(1)
}
