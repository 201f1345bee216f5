/** `npm run coverage`: reports which code in `src` runs in tests, except in killed processes. */

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { install, root } from './ready.mjs'
import { useTemporaryFolder } from './temporary-folder.mjs'

/** @typedef {{ addFromDir: (folder: string) => Promise<void>, generate: () => Promise<void> }} CoverageReport */

install('tools')
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
process.once('SIGINT', () => undefined) // Ctrl-C ends only the tests, and this process reports the coverage so far
const args = process.argv.length > 2 ? process.argv.slice(2) : ['--all']
const { status } = spawnSync(process.execPath, [join(root, 'scripts/test.mjs'), ...args], {
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, NODE_V8_COVERAGE: folder },
})
await report.addFromDir(folder)
await report.generate()
process.exitCode = status ?? 1
