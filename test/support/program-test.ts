/** Tests that need an installed program. */

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'

/** Programs for administrators are not on every user's PATH. */
const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']

/**
 * A test that runs an installed program, for example `nginx`. If the program is missing, the test is
 * skipped, which the last lines of the report say; with `CI=true` it fails.
 * @param run gets the path of the program.
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
 * Options of tests that need a program.
 * @param missing the program, if it is not there.
 * @throws {Error} with `CI=true`, if it is not there.
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
