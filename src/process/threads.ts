/** Lowers the priority of V8's own threads in a process that has only one core. @module */

import { readdirSync } from 'node:fs'
import { availableParallelism, getPriority, setPriority } from 'node:os'

/** Value for nice(2) that gives a thread of V8 a tenth of the main thread's time. */
const niceness = 10

const maxNiceness = 19

/** Lets the main thread run first. On one core, V8's threads delay requests by up to 20 ms. Linux only. */
export function serveFirst(): void {
  if (availableParallelism() > 1) return
  const lower = Math.min(getPriority() + niceness, maxNiceness)
  try {
    for (const id of readdirSync('/proc/self/task').map(Number)) {
      if (id !== process.pid) setPriority(id, lower)
    }
  } catch {
    // A thread has just ended, or the system has no /proc.
  }
}
