/**
 * `npm run coverage`: runs all tests and says which lines, branches and functions of `src` they reach in any
 * of the processes that they start. `npm run coverage -- NAME`: the same for the test files whose path
 * contains the name.
 *
 * The services under test run from the bundle, and the unit tests from `build`; source maps lead from both
 * to the same lines of TypeScript. Processes that are killed do not count.
 */

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installTestTools, root } from './ready.mjs'
import { useTemporaryFolder } from './temporary-folder.mjs'

/**
 * The part of monocart-coverage-reports that is used here.
 * @typedef {object} CoverageReport
 * @property {(folder: string) => Promise<void>} addFromDir
 * @property {() => Promise<unknown>} generate
 */

installTestTools()
/** @type {{ CoverageReport: new (options: object) => CoverageReport }} */
const { CoverageReport } = createRequire(join(root, 'tools/package.json'))(
  'monocart-coverage-reports',
)
const here = pathToFileURL(root).href
const report = new CoverageReport({
  outputDir: join(root, 'build/coverage'),
  reports: ['console-details', 'markdown-details'],
  entryFilter: (/** @type {{ url: string }} */ { url }) =>
    url.startsWith(here) &&
    /^(build\/src\/.*(?<!\.test)|dist\/[^/]*)\.js$/.test(url.slice(here.length)),
  sourceFilter: (/** @type {string} */ path) => /^src\/.*(?<!\.test)\.ts$/.test(path),
})

const folder = join(useTemporaryFolder(), 'coverage')
mkdirSync(folder)
process.once('SIGINT', () => undefined) // ends the tests; what they have reached by then is reported
const args = process.argv.length > 2 ? process.argv.slice(2) : ['--all']
const { status } = spawnSync(process.execPath, [join(root, 'scripts/test.mjs'), ...args], {
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, NODE_V8_COVERAGE: folder },
})
await report.addFromDir(folder)
await report.generate()
process.exitCode = status ?? 1
