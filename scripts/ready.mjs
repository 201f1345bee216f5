/**
 * Prepares the checkout: installs what is missing, builds what is out of date, and does nothing if
 * neither is needed. Plain JavaScript, because it runs before anything is installed.
 *
 * A hash of the inputs is kept in a stamp file next to the result, in folders that git ignores.
 */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

/** Installs the programs that only tests run; they are many, so `npm start` does not wait for them. */
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
    'scripts/bundle.mjs',
    'src',
    'test',
    'pages',
  ]
  once('build', inputs, () => {
    for (const folder of ['build', 'dist']) {
      rmSync(join(root, folder), { recursive: true, force: true })
    }
    const typescript = join(root, 'node_modules/typescript/bin/tsc')
    run(process.execPath, [typescript])
    run(process.execPath, [typescript, '--project', 'pages'])
    run(process.execPath, [join(root, 'scripts/bundle.mjs')])
    const vite = join(root, 'node_modules/vite/bin/vite.js')
    const options = ['--config', 'pages/vite.config.mjs', '--configLoader', 'native']
    run(process.execPath, [vite, 'build', ...options])
  })
}

/** Runs a command to completion; if it fails, this process ends with the same exit code. */
export function run(command, args) {
  // On Windows npm is a .cmd file, which only a shell can start. Output goes to standard error, so
  // that standard output is left to the service.
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && command === 'npm',
  })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

/** Calls `make` unless `folder` has already been made from the same inputs. */
function once(folder, inputs, make) {
  const stamp = join(root, folder, '.stamp')
  const hash = hashOf(inputs)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return
  make()
  writeFileSync(stamp, hash)
}

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

/** The files at or below a path, in an order independent of the file system. */
function filesIn(path) {
  if (/\.\w+$/.test(path)) return [path]
  return readdirSync(join(root, path), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .map((file) => file.slice(root.length))
    .sort()
}
