/**
 * Makes the checkout ready: installs what is missing, builds what is stale, and does nothing when
 * neither is needed. Plain JavaScript, as it runs before anything is installed.
 *
 * What was installed or built from is remembered as a hash in a stamp file beside the result; both
 * lie in folders that git ignores.
 */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

export function makeReady() {
  once('node_modules', ['package-lock.json'], () => {
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
  })
  once('dist', ['package-lock.json', 'tsconfig.json', 'src', 'test'], () => {
    rmSync(join(root, 'dist'), { recursive: true, force: true })
    run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')])
  })
}

/** Runs a command to its end; one that fails ends this process with the same code. */
export function run(command, args) {
  // On Windows npm is a .cmd file, which only a shell starts. Output goes to standard error, so
  // that standard output is that of the service alone.
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && command === 'npm',
  })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

/** Calls `make` unless `folder` was made from the same inputs before. */
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

/** The files at or below a path, in an order that does not depend on the file system. */
function filesIn(path) {
  if (/\.\w+$/.test(path)) return [path]
  return readdirSync(join(root, path), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .map((file) => file.slice(root.length))
    .sort()
}
