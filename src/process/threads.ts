/** Lowers the priority of V8's own threads in a process that has only one core. @module */

import { readdirSync } from 'node:fs'
import { availableParallelism, getPriority, setPriority } from 'node:os'

/**
 * Value added to the niceness of V8's own threads (nice(2)). With this value, each of these threads gets a tenth of the
 * main thread's time.
 */
const niceness = 10

const maxNiceness = 19

/**
 * Lowers the priority of V8's own threads, which compile code and help to collect garbage. On a single core, four of
 * these threads could delay requests by 20 ms. Does nothing if there are more cores, or if the system does not list
 * threads. Only Linux lists them (proc(5)).
 */
export function serveFirst(): void {
  if (availableParallelism() > 1) return
  const lower = Math.min(getPriority() + niceness, maxNiceness)
  try {
    for (const id of readdirSync('/proc/self/task').map(Number)) {
      if (id !== process.pid) setPriority(id, lower)
    }
  } catch {
    // Either a thread has just ended, or the system has no /proc. The remaining threads keep their priority.
  }
}
