/** The resident memory of a process as Linux counts it, in bytes. */

import { readFileSync, writeFileSync } from 'node:fs'

/** Resident memory now. */
export function residentBytes(pid) {
  return statusBytes(pid, 'VmRSS')
}

/** Peak resident memory since `forgetPeak`. */
export function peakBytes(pid) {
  return statusBytes(pid, 'VmHWM')
}

export function forgetPeak(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, '5') // resets the peak, see proc(5)
}

function statusBytes(pid, name) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)[1]) * 1024
}
