/** Priorities of the threads of a process that has one core. @module */

import { readdirSync } from 'node:fs'
import { availableParallelism, getPriority, setPriority } from 'node:os'

/** By how much V8's own threads are nicer (nice(2)): beside the thread that serves, each gets a tenth of its time. */
const niceness = 10

const maxNiceness = 19

/**
 * Lets the thread that serves go before V8's own threads, which compile code and help to collect garbage. On one core,
 * four of them could keep requests waiting for 20 ms. Does nothing where there are more cores, or the system does not
 * list threads (only Linux does, proc(5)).
 */
export function serveFirst(): void {
  if (availableParallelism() > 1) return
  const lower = Math.min(getPriority() + niceness, maxNiceness)
  try {
    for (const id of readdirSync('/proc/self/task').map(Number)) {
      if (id !== process.pid) setPriority(id, lower)
    }
  } catch {
    // A thread that has just ended, or a system without /proc: all keep the priority that they have.
  }
}
