/** Limits that are not settings: nobody has a reason to change them. @module */

import { fractionOfMemory, kibibyte, mebibyte, timesInHeap } from '../memory/shares.js'

/** The parts of the service take them as options. Sizes in bytes, times in seconds. */
export interface Limits {
  /** Maximum memory for the bodies of unanswered requests; beyond it, requests get 503. */
  readonly maxPendingBytes: number
  /** Maximum number of blocks of the store in process memory; beyond it, creates get 507. */
  readonly maxStoreBlocks: number
  /** Maximum size of a request head, that is request line and headers; a longer one gets 431. */
  readonly maxHeaderBytes: number
  /** Maximum number of header lines in a request; beyond it, it gets 431. */
  readonly maxHeaderLines: number
  /**
   * Maximum memory for pipelined requests that wait for an earlier one, on all connections together; beyond
   * it, connections that hold the most are closed.
   */
  readonly maxPipelinedBytes: number
  /** Maximum memory for lists that waiting reads share; beyond it, each gets its own, one after the other. */
  readonly maxSharedListBytes: number
  /** Mean event loop delay within a second, in milliseconds; above it, item requests other than deletes get 503. */
  readonly maxEventLoopDelay: number
  /** How long a client may read nothing of a response; then its connection is closed. */
  readonly idleTimeout: number
}

/** What the limits depend on; in bytes. */
interface Room {
  readonly maxBodyBytes: number
  /** Resident memory that this process may take; more than there is means all of it. */
  readonly maxMemoryBytes: number
}

export function limitsFor({ maxBodyBytes, maxMemoryBytes }: Room): Limits {
  const memory = Math.min(maxMemoryBytes, fractionOfMemory(1))
  return {
    // Half of memory is for items, by default, and garbage takes its share. One body always fits.
    maxPendingBytes: Math.max(Math.floor(memory / 10), maxBodyBytes),
    // Each takes less than 2 KiB of the heap, and its bytes are outside. Operators think in bytes, which
    // MAX_STORE_BYTES limits; this only keeps a small heap from overflowing.
    maxStoreBlocks: timesInHeap(2 * kibibyte),
    // The default of Node.js.
    maxHeaderBytes: 16 * kibibyte,
    // Apache allows 100.
    maxHeaderLines: 128,
    // 16 short requests and 64 KiB more wait on a connection, so this is for 300 clients that all pipeline without
    // reading.
    maxPipelinedBytes: Math.min(Math.floor(memory / 20), 32 * mebibyte),
    // With a store on a server, which leaves half of memory to other uses: no items are in this process.
    maxSharedListBytes: Math.min(Math.floor(memory / 20), 64 * mebibyte),
    // A request that would wait for longer is better sent again a second later, as Retry-After says.
    maxEventLoopDelay: 500,
    // Longer than nginx waits for its clients by default (60 s), so that behind it, nginx decides.
    idleTimeout: 90,
  }
}
