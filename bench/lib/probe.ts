/** A light steady load: one connection on which small requests follow each other, to see how long each waits. */

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Request } from './client.js'

export interface Waits {
  longest: number // time that a response took, in milliseconds
  ownStall: number // the longest time for which the thread that reads was delayed itself
  problem: string | undefined // why it ended early
}

/**
 * Sends one of the requests every two milliseconds, in rotation, from a thread of its own.
 * @returns what stops it, without waiting for a response that is still missing: its time counts so far.
 */
export async function startReading(
  port: number,
  requests: Request[],
): Promise<() => Promise<Waits>> {
  const script = new URL('probe-thread.js', import.meta.url)
  const thread = new Worker(script, { workerData: { port, requests } })
  await once(thread, 'message')
  return async () => {
    const answer = once(thread, 'message')
    thread.postMessage('stop')
    const [waits] = await answer
    return waits
  }
}
