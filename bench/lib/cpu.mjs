/** Processor time as Linux counts it, see proc(5). */

import { readFileSync } from 'node:fs'

/** Ticks of /proc/PID/stat in a second: the same on every machine that Node.js runs on. */
const ticks = 100

/** Seconds of processor time that a process and its children have used. */
export function cpuSeconds(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  const own = statOf(pid)
  if (children === '') return own
  return children.split(' ').reduce((sum, child) => sum + cpuSeconds(child), own)
}

function statOf(pid) {
  // The name of the program is in parentheses, and may hold anything.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ')
  const [user, system] = [Number(fields[11]), Number(fields[12])]
  return (user + system) / ticks
}
