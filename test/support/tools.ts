/** Files of this repository, and the programs and packages in its `tools` folder, which only tests use. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of this repository. */
export const root = fileURLToPath(new URL('../../../', import.meta.url))

export const toolsFolder = join(root, 'tools')

/** Path of the TypeScript compiler. Run it with `process.execPath`. */
export const tsc = join(root, 'node_modules/typescript/bin/tsc')

/** Returns the text of a file in this repository. @param path relative to the root of the repository. */
export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** The parts of this repository's `package.json` that tests use. */
export const manifest: {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
} = JSON.parse(readText('package.json'))

export const requireTool = createRequire(join(toolsFolder, 'package.json'))

/** Returns the path of a program in the `tools` folder, for example `redocly`. Run it with `process.execPath`. */
export function toolCommand(name: string): string {
  return join(toolsFolder, 'node_modules/.bin', name)
}
