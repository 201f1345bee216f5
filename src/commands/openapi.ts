/** `item-store openapi`. @module */

import { readVersion } from '../version.js'
import { readFlags } from './flags.js'

/** Prints the interface as an OpenAPI document. */
export async function run(args: string[]): Promise<void> {
  readFlags('openapi', args, {})
  const { openApiDocument } = await import('../interface/openapi.js')
  process.stdout.write(`${JSON.stringify(openApiDocument(readVersion()), null, 2)}\n`)
}
