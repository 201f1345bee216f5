/**
 * Throws if Node.js is older than package.json requires. The command and the library import this before anything else:
 * old versions lack functions that the rest calls.
 *
 * @module
 */

import { UsageError } from './config/usage-error.js'
import { require } from './require.js'

const { engines }: { engines: { node: string } } = require('item-store/package.json')
const [major = 0, minor = 0] = numbersIn(engines.node.replace('>=', ''))
const [ownMajor = 0, ownMinor = 0] = numbersIn(process.versions.node)
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  throw new UsageError(
    `item-store: needs Node.js ${major}.${minor} or newer, this is ${process.versions.node}`,
  )
}

function numbersIn(version: string): number[] {
  return version.split('.').map(Number)
}
