/** Sends the requests of `probe.ts` in a separate thread, which the load does not delay. */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { Request } from './client.js'
import { type Connection, openConnections } from './connections.js'
import type { Waits } from './probe.js'

/** Time between two requests, in milliseconds. */
const interval = 2
const timerResolution = 1 // milliseconds

const { port, requests }: { port: number; requests: Request[] } = workerData
const [connection] = await openConnections(port, 1)
const ownDelay = monitorEventLoopDelay({ resolution: timerResolution })
ownDelay.enable()
let longest = 0
let sent = 0
let problem: string | undefined

parentPort?.once('message', () => {
  if (sent > 0 && problem === undefined) longest = Math.max(longest, performance.now() - sent)
  const ownStall = Math.max(0, ownDelay.max / 1e6 - timerResolution)
  parentPort?.postMessage({ longest, ownStall, problem } satisfies Waits)
  process.exit() // ends only this thread
})
parentPort?.postMessage('ready')
if (connection !== undefined) {
  readAll(connection).catch((error: Error) => {
    problem = error.message
  })
}

async function readAll({ ask }: Connection) {
  for (let turn = 0; ; turn += 1) {
    sent = performance.now()
    const { status } = await ask(requests[turn % requests.length] ?? { method: 'GET', path: '/' })
    const latency = performance.now() - sent
    longest = Math.max(longest, latency)
    sent = 0
    if (status !== 200) throw new Error(`a read got status ${status}`)
    await wait(Math.max(0, interval - latency))
  }
}
