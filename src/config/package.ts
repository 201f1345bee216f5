/** Package location and version. Entry files import this module first, to reject any runtime but Node.js. @module */

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { UsageError } from './usage-error.js'

const require = createRequire(import.meta.url)

// Finds the file by the name of the package, because a bundle of this code can be in another folder.
const file = require.resolve('item-store/package.json')

const contents: { readonly version: string; readonly engines: { readonly node: string } } =
  require(file)

/** Semantic version of the service (spec §9.2). */
export const { version } = contents

const { bun, deno } = process.versions
if (bun !== undefined || deno !== undefined) {
  const runtime = bun === undefined ? `Deno ${deno}` : `Bun ${bun}`
  throw new UsageError(
    `item-store: needs Node.js, this is ${runtime}; only item-store/client runs here`,
  )
}

const oldest = contents.engines.node.replace('>=', '')
const own = process.versions.node
if (own.localeCompare(oldest, 'en', { numeric: true }) < 0) {
  const needed = oldest.replace(/\.0$/, '')
  throw new UsageError(`item-store: needs Node.js ${needed} or newer, this is ${own}`)
}

export function packageFile(path: string): string {
  return join(dirname(file), path)
}
