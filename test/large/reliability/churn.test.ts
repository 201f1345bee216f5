/** Tests that many changes and slow readers leak no memory. */

import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { startLoad, successesOf } from '../../support/item-load.js'
import { cli, type OwnService, ownService, ownTest } from '../../support/own-service.js'
import { residentBytes, until } from '../../support/process.js'
import { numbers } from '../../support/report.js'
import { headOf, openSocket } from '../../support/socket.js'

/** Memory and store size in MiB, duration in seconds, and the maximum factor by which memory may grow. */
const options = numbers({ memory: 220, store: 12, seconds: 4, growth: 1.6 })
const mebibyte = 1024 ** 2
const maxStoreBytes = options.store * mebibyte
const slowReaders = 10
const rest = 20 // ms after each 64 KiB that a slow reader reads
const settling = 30_000 // ms until memory growth is below `settled`
const settled = 1.3

ownTest('after many changes and slow readers of lists, memory is returned', async (t) => {
  const settings = {
    MAX_MEMORY_BYTES: String(Math.floor(options.memory * 0.9) * mebibyte),
    MAX_STORE_BYTES: String(maxStoreBytes),
  }
  const heap = `--max-old-space-size=${Math.floor(options.memory / 2)}`
  const service = await ownService(settings, [process.execPath, heap, cli, 'serve'])
  const { idle, after, served } = await churn(service)
  t.diagnostic(JSON.stringify({ idle, after, served }))
  assert.ok(after < options.growth * idle, `${after} bytes after the churn, ${idle} before`)
})

async function churn(service: OwnService) {
  let isOver = false

  async function readSlowly(): Promise<void> {
    while (!isOver) {
      const head = headOf(service, 'GET', '/items', 'Connection: close')
      const socket = openSocket(service.baseUrl, head)
      const timer = setInterval(() => socket.resume(), rest)
      socket.on('data', () => socket.pause())
      await until('a list ends', () => isOver || socket.destroyed || socket.readableEnded, 120_000)
      clearInterval(timer)
      socket.destroy()
    }
  }

  const warmUp = startLoad(service, { pause: 0 }) // the first requests load code, which takes memory
  await until('it is warm', () => successesOf(warmUp) > 500)
  await warmUp.stop()
  await warmUp.clear()
  await delay(1_500)
  const idle = residentBytes(service)

  const load = startLoad(service, {
    pause: 0,
    lengthOf: (version) => Math.floor(100 * 20_000 ** ((version * 0.618) % 1)),
    wantsMore: (own, bytes) => own < 10_000 && bytes < 0.8 * maxStoreBytes,
  })
  const readers = Array.from({ length: slowReaders }, readSlowly)
  await delay(options.seconds * 1000)
  await load.stop()
  isOver = true
  await Promise.all(readers)
  await load.clear()
  let after = residentBytes(service)
  for (const late = performance.now() + settling; after > settled * idle; await delay(200)) {
    if (performance.now() > late) break
    after = residentBytes(service)
  }
  return { idle, after, served: successesOf(load) }
}
