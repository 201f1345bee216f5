/** Loads programs and packages that only tests use. They are installed in the `tools` folder. */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of this repository. */
export const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The folder with the programs and packages that only tests use. */
export const toolsFolder = join(root, 'tools')

/** Loads a package that is installed in the `tools` folder. */
export const requireTool = createRequire(join(toolsFolder, 'package.json'))

/** Returns the path of a program in the `tools` folder, for example `redocly`. Run it with `process.execPath`. */
export function toolCommand(name: string): string {
  return join(toolsFolder, 'node_modules/.bin', name)
}
