/** Tests of the workflows in .github: whether GitHub accepts them, their permissions, and whose code they run. */

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readText, root } from '../support/tools.js'
import { workflowErrors } from '../support/workflow.js'

const folder = '.github/workflows'
const action = /^(\.\/\.github\/workflows\/\w+\.yml|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/

/** Write permissions of each workflow, in the order of its jobs. */
const written: Record<string, string[]> = {
  'release.yml': ['id-token', 'contents'],
  'scorecard.yml': ['id-token', 'security-events'],
  'security.yml': ['security-events'],
}

for (const name of readdirSync(join(root, folder))) {
  const text = readText(`${folder}/${name}`)
  const valuesOf = (pattern: RegExp) =>
    Array.from(text.matchAll(pattern), ([, value = '']) => value)

  test(`${name}: GitHub accepts it`, () => assert.deepEqual(workflowErrors(text), []))

  test(`${name}: each action is pinned by its full hash, and a comment names its version`, () => {
    for (const used of valuesOf(/\buses: *(.*)$/gm)) assert.match(used, action)
  })

  test(`${name}: only the jobs that need write permissions have them`, () => {
    assert.match(text, /^permissions:( \{\}|\n {2}contents: read)\n\n/m)
    assert.deepEqual(valuesOf(/^ {6}([\w-]+): write\b/gm), written[name] ?? [])
    assert.doesNotMatch(text, /write-all/)
  })

  test(`${name}: no checkout leaves its token in the folder`, () => {
    const checkouts = valuesOf(/actions\/checkout@.*\n +with:\n(.*)$/gm)
    assert.equal(checkouts.length, text.split('actions/checkout@').length - 1)
    for (const options of checkouts) assert.match(options, /^ +persist-credentials: false$/)
  })

  test(`${name}: no text from an event gets into a script`, () => {
    assert.doesNotMatch(text, /\$\{\{ (?!matrix\.|github\.(repository|token) )/)
  })
}
