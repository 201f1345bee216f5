/** This package: where it is, and what its package.json says. @module */

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

// Located by its name, because this code may be bundled.
const file = require.resolve('item-store/package.json')

const contents: { readonly version: string; readonly engines: { readonly node: string } } =
  require(file)

/** Semantic version of the service (spec §9.2). */
export const { version } = contents

/** Oldest version of Node.js that the package supports, such as `20.19.0`. */
export const oldestNode = contents.engines.node.replace('>=', '')

/** Returns the path of a file of the package. */
export function packageFile(path: string): string {
  return join(dirname(file), path)
}
