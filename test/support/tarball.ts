/** Packs this package into the tarball that users install, and unpacks tarballs. */

import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { outputOf } from './process.js'
import { cleanEnvironment, emptyFolder, root } from './tools.js'

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

export function unpack(tarball: string): string {
  const folder = join(emptyFolder(), 'node_modules', 'item-store')
  mkdirSync(folder, { recursive: true })
  outputOf('tar', ['-xzf', tarball, '-C', folder, '--strip-components', '1'])
  return folder
}
