/** Tests that need an installed program. */

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'

/** Folders to search for programs. Not every user's PATH has the folders of administrators' programs. */
const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']

/**
 * Defines a test that runs an installed program, for example `nginx`. If the program is missing, the test is skipped,
 * and the last lines of the report say so. With `CI=true`, the test file fails instead.
 * @param run called with the path of the program.
 */
export function programTest(
  program: string,
  title: string,
  run: (path: string) => void | Promise<void>,
): void {
  const path = folders.map((folder) => join(folder, program)).find(isExecutable)
  test(title, unlessMissing(path === undefined && program), async () => await run(path ?? program))
}

/**
 * Returns options for tests that need a program.
 * @param missing name of the program, if the program is missing.
 * @throws {Error} if the program is missing and `CI=true`.
 */
export function unlessMissing(missing: string | false): { skip: string | false } {
  const reason = missing && `${missing} is not installed`
  if (reason && process.env.CI === 'true') throw new Error(reason)
  return { skip: reason }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
