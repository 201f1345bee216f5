/** Finds this repository's files, and the packages in its `tools` folder, which are used only by tests. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))

export const toolsFolder = join(root, 'tools')

export const tsc = join(root, 'node_modules/typescript/bin/tsc')

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

export const manifest: {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly scripts: Readonly<Record<'start' | 'dev', string>>
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | object>>
} = JSON.parse(readText('package.json'))

/** Flags of V8 that shorten the longest waits. What we ship passes them; `npx item-store` does without. */
export const v8Flags = manifest.scripts.start.match(/--\S+/g) ?? []

export const requireTool = createRequire(join(toolsFolder, 'package.json'))

export function toolCommand(name: string): string {
  return join(toolsFolder, 'node_modules/.bin', name)
}
