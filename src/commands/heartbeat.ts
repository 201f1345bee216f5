/** How a worker that is stuck or stopped is noticed: each says every second that its event loop runs. @module */

import type { EventEmitter } from 'node:events'

/** How often a worker says so, in milliseconds. */
const interval = 1_000

/**
 * After how many of these intervals without a message a worker counts as stuck, which one that is only
 * slow is not: a busy one, next to 16 busy processes on two cores, was silent for 2 seconds at most.
 */
export const patience = 30

/** In a worker: from now on, says that it runs. */
export function startHeartbeat(): void {
  const beat = () => {
    // The other process may have ended.
    process.send?.('beat', undefined, undefined, () => undefined)
  }
  beat()
  setInterval(beat, interval).unref()
}

/**
 * In the process that has started a worker: notices when no message of any kind comes any more, from the
 * first one on. Only intervals in which this process itself runs, and reads messages, count.
 * @param onStuck is called once.
 */
export function watchHeartbeat(worker: EventEmitter, onStuck: () => void): void {
  let silence: number | undefined
  worker.on('message', () => {
    silence = 0
  })
  const timer = setInterval(() => {
    if (silence !== undefined) silence += 1
    if (silence === patience) onStuck()
  }, interval)
  const end = () => clearInterval(timer)
  // After the end of the channel, it has `SHUTDOWN_TIMEOUT` to end.
  worker.once('disconnect', end).once('exit', end)
}
