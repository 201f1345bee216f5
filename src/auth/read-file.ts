/** Reads files that may keep a reader waiting, such as named pipes and files on a lost network mount. @module */

import { constants, createReadStream, fstat, open } from 'node:fs'
import { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'

/** How long a read may take before it is reported, in ms. */
const patience = 5_000

/** Reads a file. After five seconds, calls `onLate` once, and keeps waiting. A pipe does not keep the process alive. */
export async function readFile(path: string, onLate: (reason: Error) => void): Promise<Buffer> {
  const late = new Error(`no data within ${patience / 1000} s`)
  const timer = setTimeout(onLate, patience, late)
  try {
    // Without O_NONBLOCK, a pipe that nobody writes to would block a thread, and the process could not even exit.
    const fd = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const isPipe = (await promisify(fstat)(fd)).isFIFO()
    const pipe = isPipe && new Socket({ fd, writable: false }).unref()
    return await buffer(pipe || createReadStream(path, { fd }))
  } finally {
    clearTimeout(timer)
  }
}
