/**
 * Throws if Node.js is older than package.json requires, or if this is Bun or Deno, which lack parts of `node:http`. The
 * command and the library import this before anything else: old versions lack functions that the rest calls.
 *
 * @module
 */

import { oldestNode } from './package.js'
import { UsageError } from './usage-error.js'

const { bun, deno } = process.versions
if (bun !== undefined || deno !== undefined) {
  const runtime = bun === undefined ? `Deno ${deno}` : `Bun ${bun}`
  throw new UsageError(
    `item-store: needs Node.js, this is ${runtime}; only item-store/client runs here`,
  )
}

const [major = 0, minor = 0] = numbersIn(oldestNode)
const [ownMajor = 0, ownMinor = 0] = numbersIn(process.versions.node)
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  throw new UsageError(
    `item-store: needs Node.js ${major}.${minor} or newer, this is ${process.versions.node}`,
  )
}

function numbersIn(version: string): number[] {
  return version.split('.').map(Number)
}
