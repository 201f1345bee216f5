/** Runs nginx with a configuration file from `deploy/`, adapted to this machine. */

import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownProcess } from './process.js'
import { emptyFolder, readText } from './tools.js'

/** @param file path in the repository. @param changes replacements for texts that occur exactly once in the file. */
export function configureNginx(
  file: string,
  changes: readonly (readonly [from: string, to: string])[],
  directives = '',
): { folder: string; args: string[] } {
  const folder = emptyFolder()
  chmodSync(folder, 0o755) // the workers of nginx run as a user other than root
  let text = readText(file)
  for (const [from, to] of changes) {
    assert.equal(text.split(from).length, 2, from)
    text = text.replace(from, to)
  }
  writeFileSync(join(folder, 'item-store.conf'), text)
  const http = `http { access_log off; ${directives} include item-store.conf; }`
  writeFileSync(join(folder, 'main.conf'), `daemon off; pid nginx.pid; events {} ${http}\n`)
  return { folder, args: ['-e', 'stderr', '-p', folder, '-c', 'main.conf'] }
}

export function startNginx(
  nginx: string,
  { folder, args }: ReturnType<typeof configureNginx>,
): void {
  ownProcess([nginx, ...args], { cwd: folder, env: process.env })
}
