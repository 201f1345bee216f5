/** Installs packages and builds the project. Written in JavaScript, because TypeScript may not be installed. */

import './node-version.mjs'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Files with the hash of a build's inputs, one in each folder that the build creates. */
const stamps = ['build/.stamp', 'dist/.stamp'].map((file) => join(root, file))
const inputs = ['package-lock.json', 'tsconfig.json', 'scripts/compile.mjs', 'src', 'test', 'pages']

export function makeReady() {
  install()
  const stamp = currentStamp()
  if (isBuilt(stamp)) return
  run(process.execPath, [join(root, 'scripts/compile.mjs')])
  for (const file of stamps) writeFileSync(file, stamp)
}

/** Installs all packages for a folder, including development dependencies, which the build needs. */
export function install(folder = '.') {
  if (isInstalled(folder)) return
  const all = ['--include=dev', '--include=optional', '--include=peer']
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  run('npm', ['ci', '--prefix', folder, ...all, ...quiet])
}

/**
 * @typedef {Record<string, { version?: string, integrity?: string, optional?: boolean, os?:
 * string[], cpu?: string[], libc?: string[] }>} Packages
 */

/** @param {string} folder */
function isInstalled(folder) {
  const list = join(root, folder, 'node_modules/.package-lock.json')
  if (!existsSync(list)) return false
  const installed = packagesIn(list)
  return Object.entries(packagesIn(join(root, folder, 'package-lock.json'))).every(
    ([path, { version, integrity, ...rest }]) => {
      if (path === '') return true // the entry for the folder itself
      const found = installed[path]
      if (found === undefined) return rest.optional === true && !isForThisMachine(rest)
      const isSame = found.version === version && found.integrity === integrity
      return isSame && existsSync(join(root, folder, path, 'package.json'))
    },
  )
}

/** @param {string} file @returns {Packages} */
function packagesIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

/**
 * True if an optional package is for this machine. One without `os` or `cpu` isn't: only packages for certain machines
 * need it.
 * @param {Packages[string]} package
 */
function isForThisMachine({ os, cpu, libc }) {
  return (
    os?.includes(process.platform) === true &&
    cpu?.includes(process.arch) === true &&
    (libc === undefined || libc.includes(libcOfThisMachine()))
  )
}

function libcOfThisMachine() {
  /** @type {{ header?: { glibcVersionRuntime?: string } }} */
  const report = process.report.getReport()
  return report.header?.glibcVersionRuntime === undefined ? 'musl' : 'glibc'
}

function currentStamp() {
  const hash = createHash('sha256')
  for (const file of inputs.flatMap(filesIn)) {
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)))
  }
  const variant = process.env.NODE_V8_COVERAGE === undefined ? '' : 'with source maps '
  return variant + hash.digest('hex')
}

/** @param {string} stamp */
function isBuilt(stamp) {
  return stamps.every((file) => existsSync(file) && readFileSync(file, 'utf8') === stamp)
}

/** @param {string} command @param {string[]} args */
export function run(command, args) {
  // Output goes to standard error, because standard output belongs to the service. On Windows, npm is a .cmd file, which
  // only a shell can start.
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && command === 'npm',
  })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

/** Returns a folder's files in the same order on every file system. @param {string} path */
function filesIn(path) {
  if (/\.\w+$/.test(path)) return [path]
  return readdirSync(join(root, path), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length))
    .sort()
}
