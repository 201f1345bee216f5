/** Whether the limits leave room to serve, beyond what the process itself takes. @module */

import { formatSize } from '../config/kinds.js'
import type { Config } from '../config/settings.js'
import { UsageError } from '../config/usage-error.js'

/** What the first hundred requests take: 15 MiB were measured. */
const reserve = 16 * 1024 ** 2 // bytes

/**
 * A process that exceeds its limit while idle would refuse every request, so it does not start. One that
 * would exceed it only with a full store gets a warning, because the store may never fill up.
 * @param idleBytes resident memory of the process before it serves.
 * @returns the warning.
 * @throws {UsageError}
 */
export function memoryWarning(
  idleBytes: number,
  { maxMemoryBytes, maxStoreBytes }: Pick<Config, 'maxMemoryBytes' | 'maxStoreBytes'>,
): string | undefined {
  const idle = `the idle process alone takes ${inMebibytes(idleBytes)}`
  const limit = `MAX_MEMORY_BYTES is ${formatSize(maxMemoryBytes)}`
  if (idleBytes + reserve > maxMemoryBytes) {
    const minimum = inMebibytes(idleBytes + reserve)
    throw new UsageError(
      `${limit}, but ${idle}: item requests would be refused; allow at least ${minimum}`,
    )
  }
  if (idleBytes + maxStoreBytes <= maxMemoryBytes) return undefined
  return `${limit}, but ${idle} and MAX_STORE_BYTES is ${formatSize(maxStoreBytes)}: item requests may get 503 before the store is full`
}

/** Rounded up, so that it is enough as a limit. */
function inMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)}MiB`
}
