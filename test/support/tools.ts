/** This repository's files, the programs and packages that only tests use, and temporary folders. */

import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
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

/** V8 flags that shorten the longest waits. `npm start` and the deployments use them; `npx item-store` does not. */
export const v8Flags = manifest.scripts.start.match(/--\S+/g) ?? []

export const requireTool = createRequire(join(toolsFolder, 'package.json'))

export function toolCommand(name: string): string {
  return join(toolsFolder, 'node_modules/.bin', name)
}

/** Returns the environment variables except npm's, `JWT_SECRET` and `JWT_ALGORITHM`. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const { JWT_SECRET: _secret, JWT_ALGORITHM: _algorithm, ...env } = process.env
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_/i.test(name)))
}

export function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), 'item-store-'))
}

/** An ordinary user's PATH may lack the `sbin` folders. */
const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']

export function programTest(
  program: string,
  title: string,
  run: (path: string) => void | Promise<void>,
): void {
  const path = folders.map((folder) => join(folder, program)).find((path) => existsSync(path))
  test(title, unlessMissing(path === undefined && program), async () => await run(path ?? program))
}

/** @param missing name of a missing program. @throws {Error} if `CI=true`. */
export function unlessMissing(missing: string | false): { skip: string | false } {
  const reason = missing && `${missing} is not installed`
  if (reason && process.env.CI === 'true') throw new Error(reason)
  return { skip: reason }
}
