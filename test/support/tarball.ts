/** Packs this package into the tarball that users install, and unpacks tarballs. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './tools.js'

/** Returns the environment variables except npm's, `JWT_SECRET` and `JWT_ALGORITHM`. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const { JWT_SECRET: _secret, JWT_ALGORITHM: _algorithm, ...env } = process.env
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_/i.test(name)))
}

export function npm(cwd: string, ...args: string[]): string {
  const options = { cwd, env: cleanEnvironment(), encoding: 'utf8', timeout: 150_000 } as const
  const { status, error, stdout, stderr } = spawnSync('npm', args, options)
  assert.equal(status, 0, `npm ${args.join(' ')}: ${error?.message ?? stderr}`)
  return stdout
}

export function pack(): string {
  const folder = emptyFolder()
  npm(root, 'pack', '--pack-destination', folder)
  const [name = ''] = readdirSync(folder)
  return join(folder, name)
}

export function filesIn(tarball: string): string[] {
  const { status, stdout, stderr } = spawnSync('tar', ['-tzf', tarball], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout
    .trimEnd()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''))
}

/** Unpacks a tarball without installing dependencies, and returns the package's folder. */
export function unpack(tarball: string): string {
  const folder = join(emptyFolder(), 'node_modules', 'item-store')
  mkdirSync(folder, { recursive: true })
  const options = ['-xzf', tarball, '-C', folder, '--strip-components', '1']
  const { status, stderr } = spawnSync('tar', options, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return folder
}

export function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), 'item-store-'))
}
