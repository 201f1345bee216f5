/** `item-store openapi`. @module */

import { readVersion } from '../version.js'
import { readFlags } from './flags.js'
import { print } from './print.js'

/** Prints the interface as an OpenAPI document. */
export async function run(args: string[]): Promise<void> {
  readFlags('openapi', args, {})
  const { openApiDocument } = await import('../interface/openapi.js')
  print(`${JSON.stringify(openApiDocument(readVersion()), null, 2)}\n`)
}
