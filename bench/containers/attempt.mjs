/** The service as it is in a container of a certain size, under a load that uses its memory. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { root } from '../../scripts/ready.mjs'
import { rawRequest, readList, sendAll } from '../lib/client.mjs'
import { anyId, requestText } from '../lib/item.mjs'
import { peakBytes, residentBytes } from '../lib/memory.mjs'
import { freePort, startServer, stop } from '../lib/processes.mjs'
import { signToken } from '../lib/token.mjs'
import { createdId, interfaceRequests } from '../peers/interface.mjs'

const mebibyte = 1024 ** 2
const lists = { clients: 4, times: 3 }
const replacedFraction = 0.2
/** Items that are replaced become up to this much shorter or longer, in bytes. */
const spread = 50
const settleSeconds = 3 // before memory is read
/** Memory of its own that the process of `item-store health` takes beside the service, in MiB. */
const healthCheck = 16

/**
 * Creates all items, has four clients list them three times, replaces a fifth of them by others that
 * are shorter or longer, and has them listed again.
 * @param size memory of the container, in MiB.
 * @returns resident memory with all items and no requests, and at its peak, in bytes; or as `failure`
 * why the container is too small: a request was refused, or less than a tenth of the memory was left, or
 * less than the health check needs.
 */
export async function attempt({ items, bytes, size }) {
  const port = await freePort()
  const secret = randomBytes(32).toString('base64url')
  const headers = { Authorization: `Bearer ${signToken(secret, 'bench')}` }
  let server
  try {
    server = await startServer({ port, ...program({ port, secret, size }) })
    const ids = await create(port, headers, items, bytes)
    await list(port, headers)
    await wait(settleSeconds * 1000)
    const idle = residentBytes(server.pid)
    await replace(port, headers, ids, bytes)
    await list(port, headers)
    const peak = peakBytes(server.pid)
    if (peak > Math.min(0.9 * size, size - healthCheck) * mebibyte) {
      return { failure: `a peak of ${Math.ceil(peak / mebibyte)} MiB` }
    }
    return { idle, peak }
  } catch (error) {
    return { failure: [error.message, server?.errorOutput].filter(Boolean).join(': ') }
  } finally {
    if (server) await stop(server)
  }
}

/**
 * What Node.js and the service make of the memory of a container: half of it is the maximum of the
 * JavaScript heap, with room for new objects in proportion (V8's `Heap::HeapSizesFromPhysicalMemory`;
 * the documentation of Node.js gives 1 MiB for 512 MiB), and the defaults of the settings are the
 * fractions in src/config.ts.
 */
function program({ port, secret, size }) {
  const fraction = (part) => `${Math.max(1, Math.floor(size * part))}MiB`
  const heap = size / 2
  const semiSpace = Math.min(16, Math.max(1, Math.ceil(heap / (heap <= 256 ? 256 : 128))))
  return {
    args: [
      `--max-old-space-size=${heap}`,
      `--max-semi-space-size=${semiSpace}`,
      join(root, 'dist/cli.js'),
      'serve',
    ],
    env: {
      HOST: '127.0.0.1',
      PORT: String(port),
      JWT_SECRET: secret,
      MAX_EVENT_LOOP_DELAY: '60000', // a busy machine must not decide
      MAX_STORE_BYTES: fraction(0.5),
      MAX_MEMORY_BYTES: fraction(0.9),
      MAX_PENDING_BYTES: `${Math.max(16, Math.floor(size * 0.1))}MiB`,
      MAX_PIPELINED_BYTES: `${Math.max(1, Math.min(32, Math.floor(size * 0.05)))}MiB`,
    },
  }
}

/** Creates the items, and returns their ids. */
async function create(port, headers, count, bytes) {
  const request = { ...interfaceRequests.create(), body: requestText(bytes), headers }
  const text = rawRequest(request)
  const ids = []
  let left = count
  const answered = (status, body) => ids.push(createdId(status, body.slice(0, 1000)))
  const next = () => {
    left -= 1
    return left < 0 ? undefined : { text, answered }
  }
  await sendAll({ port, depth: 4, next })
  return ids
}

async function replace(port, headers, ids, bytes) {
  let left = Math.ceil(ids.length * replacedFraction)
  const answered = (status) => {
    if (status !== 200) throw new Error(`a replace was answered ${status}`)
  }
  const texts = Array.from({ length: 2 * spread + 1 }, (_, at) => {
    const body = requestText(bytes - spread + at)
    return rawRequest({ ...interfaceRequests.replace(anyId), body, headers })
  })
  const next = () => {
    left -= 1
    if (left < 0) return undefined
    const text = any(texts).replace(anyId, any(ids))
    return { text, answered }
  }
  await sendAll({ port, depth: 4, next })
}

async function list(port, headers) {
  const text = rawRequest({ ...interfaceRequests.list(), headers })
  for (let time = 0; time < lists.times; time += 1) {
    await Promise.all(Array.from({ length: lists.clients }, () => readList(port, text)))
  }
}

function any(choices) {
  return choices[Math.floor(Math.random() * choices.length)]
}
