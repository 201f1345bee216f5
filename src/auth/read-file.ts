/** Reads files that may keep a reader waiting, such as named pipes and files on a lost network mount. @module */

import { constants, createReadStream, fstat, open } from 'node:fs'
import { Socket } from 'node:net'
import { promisify } from 'node:util'

/** How long a read may take before it is reported, in ms. */
const patience = 5_000

/** Maximum size of a file in bytes, so that one without an end, such as /dev/zero, does not fill the memory. */
const maxBytes = 1024 * 1024

/**
 * Reads a file of up to 1 MiB. After five seconds, calls `onLate` once, and keeps waiting. A pipe does not keep the
 * process alive. @throws {Error} if the file cannot be read, or is larger.
 */
export async function readFile(path: string, onLate: (reason: Error) => void): Promise<Buffer> {
  const late = new Error(`no data within ${patience / 1000} s`)
  const timer = setTimeout(onLate, patience, late)
  try {
    // Without O_NONBLOCK, a pipe that nobody writes to would block a thread, and the process could not even exit.
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
