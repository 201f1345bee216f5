/** Reads files that may keep a reader waiting, such as named pipes and files on a lost network mount. @module */

import { constants, createReadStream, fstat, open } from 'node:fs'
import { Socket } from 'node:net'
import { promisify } from 'node:util'

const patience = 5_000 // in ms, until a slow read is reported
const maxBytes = 1024 * 1024 // in bytes, because /dev/zero has no end

/** Reads at most 1 MiB. After five seconds, calls `onLate` and keeps waiting. @throws {Error} if reading fails, or there is more. */
export async function readFile(path: string, onLate: (reason: Error) => void): Promise<Buffer> {
  const late = new Error(`no data within ${patience / 1000} s`)
  const timer = setTimeout(onLate, patience, late)
  try {
    // Without O_NONBLOCK, a pipe without a writer blocks a thread, and the process can't even exit.
    const fd = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const isPipe = (await promisify(fstat)(fd)).isFIFO()
    const pipe = isPipe && new Socket({ fd, writable: false }).unref()
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of pipe || createReadStream(path, { fd })) {
      chunks.push(chunk)
      length += chunk.length
      if (length > maxBytes) throw new Error('larger than 1 MiB')
    }
    return Buffer.concat(chunks)
  } finally {
    clearTimeout(timer)
  }
}
