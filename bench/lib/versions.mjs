/** Versions of the packages under test. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/ready.mjs'
import { benchFolder } from './install.mjs'

/** Version of a package that is installed for the comparisons. */
export function packageVersion(name) {
  return versionIn(join(benchFolder, 'node_modules', name))
}

/** Version of the service itself. */
export function serviceVersion() {
  return versionIn(root)
}

function versionIn(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
}
