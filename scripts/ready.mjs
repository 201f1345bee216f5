/**
 * Prepares the checkout: installs what is missing, builds what is out of date, and does nothing if
 * neither is needed. Plain JavaScript, because it runs before anything is installed.
 *
 * A hash of the inputs is kept in a stamp file next to the result, in folders that git ignores.
 */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

const ciOptions = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/** Installs what is missing or out of date. */
export function install() {
  once('node_modules', ['package-lock.json'], () => {
    run('npm', ['ci', ...ciOptions])
  })
}

/** Installs the programs that only large tests run; there are many, so nothing else waits for them. */
export function installTestTools() {
  once('tools/node_modules', ['tools/package-lock.json'], () => {
    run('npm', ['ci', '--prefix', 'tools', ...ciOptions])
  })
}

/** Installs and builds what is missing or out of date. */
export function makeReady() {
  install()
  const inputs = [
    'package-lock.json',
    'tsconfig.json',
    'scripts/compile.mjs',
    'src',
    'test',
    'pages',
  ]
  const variant = process.env.NODE_V8_COVERAGE === undefined ? '' : 'with source maps '
  once('build', inputs, () => run(process.execPath, [join(root, 'scripts/compile.mjs')]), variant)
}

/**
 * Runs a command to completion; if it fails, this process ends with the same exit code.
 * @param {string} command
 * @param {string[]} args
 */
export function run(command, args) {
  // On Windows npm is a .cmd file, which only a shell can start. Output goes to standard error, to leave
  // standard output to the service.
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && command === 'npm',
  })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

/**
 * Calls `make` unless `folder` has already been made from the same inputs in the same variant.
 * @param {string} folder
 * @param {string[]} inputs files and folders
 * @param {() => void} make
 */
function once(folder, inputs, make, variant = '') {
  const stamp = join(root, folder, '.stamp')
  const hash = variant + hashOf(inputs)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return
  make()
  writeFileSync(stamp, hash)
}

/** @param {string[]} inputs files and folders */
function hashOf(inputs) {
  const hash = createHash('sha256')
  for (const file of inputs.flatMap(filesIn)) {
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0')
  }
  return hash.digest('hex')
}

/**
 * The files at or below a path, in an order independent of the file system.
 * @param {string} path
 */
function filesIn(path) {
  if (/\.\w+$/.test(path)) return [path]
  return readdirSync(join(root, path), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .map((file) => file.slice(root.length))
    .sort()
}
