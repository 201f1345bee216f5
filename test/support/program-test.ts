/** Tests that need an installed program. */

import assert from 'node:assert/strict'
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
  const reason = `${program} is not installed`
  if (path !== undefined) test(title, async () => await run(path))
  else if (process.env.CI === 'true') test(title, () => assert.fail(reason))
  else test(title, { skip: reason }, () => undefined)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
