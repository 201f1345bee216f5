/** Defines tests that need an installed program. Without it, they are skipped, or fail if `CI=true`. */

import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'

/** The PATH of an ordinary user may lack the `sbin` folders. */
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
