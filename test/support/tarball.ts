/** Packs this package into the tarball that users install, and unpacks tarballs. */

import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { outputOf } from './process.js'
import { root } from './tools.js'

/** Returns the environment variables except npm's, `JWT_SECRET` and `JWT_ALGORITHM`. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const { JWT_SECRET: _secret, JWT_ALGORITHM: _algorithm, ...env } = process.env
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_/i.test(name)))
}

export function npm(cwd: string, ...args: string[]): string {
  return outputOf('npm', args, { cwd, env: cleanEnvironment() })
}

export function pack(): string {
  const folder = emptyFolder()
  npm(root, 'pack', '--pack-destination', folder)
  const [name = ''] = readdirSync(folder)
  return join(folder, name)
}

export function filesIn(tarball: string): string[] {
  return outputOf('tar', ['-tzf', tarball])
    .trimEnd()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''))
}

/** Unpacks a tarball without installing dependencies, and returns the package's folder. */
export function unpack(tarball: string): string {
  const folder = join(emptyFolder(), 'node_modules', 'item-store')
  mkdirSync(folder, { recursive: true })
  outputOf('tar', ['-xzf', tarball, '-C', folder, '--strip-components', '1'])
  return folder
}

export function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), 'item-store-'))
}
