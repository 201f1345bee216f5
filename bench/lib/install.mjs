/** The packages of the comparisons, which are in bench/node_modules, and the versions of packages. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ciOptions, once, run } from '../../scripts/ready.mjs'

export const benchFolder = fileURLToPath(new URL('..', import.meta.url))

/** Installs the packages when they are missing or out of date. */
export function installPeers() {
  once('bench/node_modules', ['bench/package-lock.json'], () => {
    run('npm', ['ci', '--prefix', 'bench', ...ciOptions])
  })
}

/**
 * The version in a folder's package.json.
 * @param {string} folder
 * @returns {string}
 */
export function versionIn(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
}
