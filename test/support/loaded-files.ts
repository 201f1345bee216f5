/** Lists the files that a process has loaded. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @param folder value of `NODE_V8_COVERAGE` for the processes, all of which must have exited. */
export function loadedFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((file) => {
    const { result }: { result: { url: string }[] } = JSON.parse(
      readFileSync(join(folder, file), 'utf8'),
    )
    return result.map(({ url }) => url)
  })
}
