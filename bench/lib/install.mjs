/**
 * Installs the packages of the comparisons into bench/node_modules when they are missing or stale. A
 * stamp file beside the packages holds a hash of the lock file that they were installed from.
 */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const benchFolder = fileURLToPath(new URL('..', import.meta.url))

export function installPeers() {
  const stamp = join(benchFolder, 'node_modules/.stamp')
  const hash = createHash('sha256')
    .update(readFileSync(join(benchFolder, 'package.json')))
    .update(readFileSync(join(benchFolder, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return

  // On Windows npm is a .cmd file, which only a shell starts.
  const { status, error } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: benchFolder, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' },
  )
  if (error) throw error
  if (status !== 0) throw new Error(`npm ci failed in ${benchFolder}`)
  writeFileSync(stamp, hash)
}
