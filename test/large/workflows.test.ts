/** Tests of the workflows in .github: whether GitHub accepts them, their permissions, and whose code they run. */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../support/tools.js'
import { workflowErrors } from '../support/workflow.js'
import { parseYaml } from '../support/yaml.js'

type Permissions = Record<string, string>

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Record<string, unknown>
}

interface Job {
  readonly permissions?: Permissions
  readonly uses?: string
  readonly steps?: readonly Step[]
}

const folder = join(root, '.github/workflows')
const workflows = readdirSync(folder).map((name) => {
  const text = readFileSync(join(folder, name), 'utf8')
  const { permissions, jobs } = parseYaml<{
    permissions?: Permissions
    jobs: Record<string, Job>
  }>(text)
  return { name, text, permissions, jobs: Object.entries(jobs) }
})

/** Write permissions by workflow and job. All other jobs have none. */
const rights: Record<string, Permissions> = {
  'release.yml publish': { 'id-token': 'write' },
  'release.yml github': { contents: 'write' },
  'scorecard.yml scorecard': { 'id-token': 'write', 'security-events': 'write' },
  'security.yml codeql': { 'security-events': 'write' },
}

for (const { name, text, permissions, jobs } of workflows) {
  test(`${name}: GitHub accepts it`, () => {
    assert.deepEqual(workflowErrors(text), [])
    assert.notDeepEqual(workflowErrors(text.replace('\njobs:', '\njob:')), [])
  })

  test(`${name}: each action is pinned by its full hash, and a comment names its version`, () => {
    const used = [...text.matchAll(/\buses: *(.*)$/gm)].map(([, action = '']) => action)
    assert.ok(used.length > 0)
    for (const action of used) {
      assert.match(
        action,
        /^(\.\/\.github\/workflows\/\w+\.yml|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/,
      )
    }
  })

  test(`${name}: only the jobs that need write permissions have them`, () => {
    for (const [right, access] of Object.entries(permissions ?? { everything: 'write' })) {
      assert.equal(access, 'read', right)
    }
    for (const [job, { permissions = {} }] of jobs) {
      const writing = Object.entries(permissions).filter(([, access]) => access !== 'read')
      assert.deepEqual(Object.fromEntries(writing), rights[`${name} ${job}`] ?? {}, job)
    }
  })

  test(`${name}: no checkout leaves its token in the folder`, () => {
    for (const [job, { steps = [] }] of jobs) {
      for (const { uses, with: options } of steps) {
        if (uses?.startsWith('actions/checkout@')) {
          assert.equal(options?.['persist-credentials'], false, job)
        }
      }
    }
  })

  test(`${name}: no text from an event gets into a script`, () => {
    for (const [job, { steps = [] }] of jobs) {
      for (const { run = '' } of steps) assert.doesNotMatch(run, /\$\{\{(?! matrix\.)/, job)
    }
  })
}
