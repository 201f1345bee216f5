/** Runs nginx with a configuration file from `deploy/`, adapted to this machine. */

import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, ownProcess } from './process.js'
import { emptyFolder, readText } from './tools.js'

/** A replacement for a text that occurs exactly once in a file. */
type Change = readonly [from: string, to: string]

/** Changes of deploy/nginx.conf: it serves on `port`, without TLS. */
export async function withoutTls(port: number): Promise<Change[]> {
  const name = 'items.example.com'
  return [
    ['listen 443 ssl', `listen 127.0.0.1:${port}`],
    [`  ssl_certificate /etc/ssl/${name}.pem;\n`, ''],
    [`  ssl_certificate_key /etc/ssl/${name}.key;\n`, ''],
    ['listen 80;', `listen 127.0.0.1:${await freePort()};`],
  ]
}

/** @param file path in the repository. */
export function configureNginx(
  file: string,
  changes: readonly Change[],
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
