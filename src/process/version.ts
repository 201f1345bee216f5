/** The version of this package. @module */

import { require } from '../require.js'

/** A semantic version, from the package's own package.json. */
export function readVersion(): string {
  const { version }: { version: string } = require('item-store/package.json')
  return version
}
