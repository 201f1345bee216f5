/** `item-store openapi`. @module */

import { readArguments } from '../config/flags.js'
import { version } from '../config/package.js'

/** What a service guarantees that keeps its items in process memory. */
const lists = { isSnapshot: true, isInOrder: true }

/** The interface as an OpenAPI document. */
export async function run(args: string[]): Promise<string> {
  readArguments('openapi', args, {})
  const { openApiDocument } = await import('../interface/openapi.js')
  return JSON.stringify(openApiDocument(version, lists), null, 2)
}
