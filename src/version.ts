/** The version of this package. @module */

import { readFileSync } from 'node:fs'

/** A semantic version, from the package's own package.json. */
export function readVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version }: { version: string } = JSON.parse(manifest)
  return version
}
