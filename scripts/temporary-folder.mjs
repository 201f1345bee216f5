/** Creates a folder for the temporary files of a run, and removes it when the run ends. */

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

const prefix = 'item-store-run-'

/** A nested run uses the outer folder, because a socket's path has a hundred characters at most. */
export function useTemporaryFolder() {
  if (basename(tmpdir()).startsWith(prefix)) return tmpdir()
  const folder = mkdtempSync(join(tmpdir(), prefix))
  chmodSync(folder, 0o755) // nginx, which reads files in this folder, runs as another user
  process.env.TMPDIR = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
