/** A light steady load: one connection on which small requests follow each other, to see how long each waits. */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import type { RawRequest } from './client.js'
import { openConnections } from './connections.js'

/** From one request to the next, in milliseconds. */
const interval = 2
const timerResolution = 1 // milliseconds

export interface Waits {
  longest: number // time that a response took, in milliseconds
  ownStall: number // the longest time for which this process itself was delayed
  problem: string | undefined // why it ended early
}

/**
 * Sends one of the requests every two milliseconds, in rotation.
 * @returns what stops it, without waiting for a response that is still missing: its time counts so far.
 */
export async function startReading(port: number, requests: RawRequest[]): Promise<() => Waits> {
  const [connection] = await openConnections(port, 1)
  if (connection === undefined) throw new Error('there is no connection')
  const ownDelay = monitorEventLoopDelay({ resolution: timerResolution })
  ownDelay.enable()
  let isStopped = false
  let longest = 0
  let sent = 0
  let problem: string | undefined
  async function readAll(ask: NonNullable<typeof connection>['ask']) {
    for (let turn = 0; !isStopped; turn += 1) {
      const request = requests[turn % requests.length] ?? { method: 'GET', path: '/' }
      sent = performance.now()
      const { status } = await ask(request)
      const latency = performance.now() - sent
      longest = Math.max(longest, latency)
      sent = 0
      if (status !== 200) throw new Error(`a read was answered ${status}`)
      await wait(Math.max(0, interval - latency))
    }
  }
  readAll(connection.ask).catch((error: Error) => {
    if (!isStopped) problem = error.message
  })
  return () => {
    isStopped = true
    ownDelay.disable()
    connection.close()
    if (sent > 0 && problem === undefined) longest = Math.max(longest, performance.now() - sent)
    return { longest, ownStall: Math.max(0, ownDelay.max / 1e6 - timerResolution), problem }
  }
}
