/** Measures response times under load. A separate thread, which the load does not delay, sends small requests. */

import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads'
import { openConnection } from './connections.js'
import type { Request, Server } from './requests.js'

export interface Waits {
  longest: number // longest response time, in milliseconds
  ownStall: number // longest delay of the probing thread itself, in milliseconds
  problem: string | undefined // error that ended the probe early
}

const interval = 2 // milliseconds between two requests
const timerResolution = 1 // milliseconds

/** Sends requests until you call the returned function. Measures a request still in progress too. */
export async function startReading(server: Server, requests: Request[]) {
  const thread = new Worker(new URL(import.meta.url), { workerData: { server, requests } })
  await once(thread, 'message')
  return async (): Promise<Waits> => {
    thread.postMessage('stop')
    const [waits] = await once(thread, 'message')
    return waits
  }
}

if (parentPort !== null) await probe(parentPort, workerData)

async function probe(
  parent: MessagePort,
  { server, requests }: { server: Server; requests: Request[] },
) {
  const connection = await openConnection(server)
  const ownDelay = monitorEventLoopDelay({ resolution: timerResolution })
  ownDelay.enable()
  let longest = 0
  let sent: number | undefined
  let problem: string | undefined

  parent.once('message', () => {
    if (sent !== undefined) longest = Math.max(longest, performance.now() - sent)
    const ownStall = Math.max(0, ownDelay.max / 1e6 - timerResolution)
    parent.postMessage({ longest, ownStall, problem } satisfies Waits)
    process.exit() // ends only this thread
  })
  parent.postMessage('ready')
  try {
    for (;;) {
      for (const request of requests) {
        sent = performance.now()
        const { status } = await connection.ask(request)
        const latency = performance.now() - sent
        sent = undefined
        longest = Math.max(longest, latency)
        if (status !== 200) throw new Error(`a read got status ${status}`)
        await wait(Math.max(0, interval - latency))
      }
    }
  } catch (error) {
    sent = undefined
    problem = error instanceof Error ? error.message : String(error)
  }
}
