/** Programs and packages that only tests use, installed in `tools`. */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of this repository. */
export const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The folder in which the tools are installed. */
export const toolsFolder = join(root, 'tools')

/** Loads packages as a file in `tools` would. */
export const requireTool = createRequire(join(toolsFolder, 'package.json'))

/** The path of a tool's command, for example `redocly`; run it with `process.execPath`. */
export function toolCommand(name: string): string {
  return join(toolsFolder, 'node_modules/.bin', name)
}
