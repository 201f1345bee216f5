/** Versions of what takes part. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/ready.mjs'
import { benchFolder } from './install.mjs'

/** Version of a package that the comparisons have installed. */
export function packageVersion(name) {
  return versionIn(join(benchFolder, 'node_modules', name))
}

/** Version of a package that the service has installed, or of the service itself. */
export function serviceVersion(name) {
  return versionIn(name === undefined ? root : join(root, 'node_modules', name))
}

function versionIn(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
}
