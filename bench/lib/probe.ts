/** Measures response times under load, with small requests on one connection. */

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Request } from './client.js'

export interface Waits {
  longest: number // longest response time, in milliseconds
  ownStall: number // longest delay of the probing thread itself, in milliseconds
  problem: string | undefined // error that ended the probe early
}

/** Sends requests until the returned function is called. A request still in progress at that point is measured too. */
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
