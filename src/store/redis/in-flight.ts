/** What is in flight: the limit for one connection, in bytes, and the counts of all connections. @module */

import type { StoreTraffic } from '../item-store.js'
import type { Command, RedisValue, Reply } from './client.js'

/** Maximum for commands and replies in flight together, in bytes: neither end has to hold more. */
const maxBytes = 32 * 1024 * 1024
/** Minimum counted for a call with its replies, in bytes. It limits calls in flight to 1,024. */
const minBytes = 32 * 1024
/** Minimum counted for a reply of unknown length, in bytes. It limits these replies to 64. */
const minBytesOfUnknown = 512 * 1024
/** Decay of the expected length of replies: after 44 short replies, a tenth of the longest one remains. */
const decay = 0.95

/** Limits what is in flight on one connection. */
export class InFlightLimit {
  #bytes = 0
  /** Expected length of a reply of unknown length, in bytes: that of the longest recent one. */
  #replyBytes = maxBytes / 4

  /**
   * Counts commands that are sent together, with their replies. A single call may exceed the limit.
   * @returns the bytes to give back; `undefined` if there is no room for them.
   */
  take(commands: readonly Command[]): number | undefined {
    const bytes = commands.reduce((sum, command) => sum + this.#bytesOf(command), 0)
    const counted = Math.max(minBytes, bytes)
    if (this.#bytes > 0 && this.#bytes + counted > maxBytes) return undefined
    this.#bytes += counted
    return counted
  }

  /** Gives bytes back, and learns the usual length from a reply. The length of replies that came together was known. */
  give(bytes: number, [reply, ...others]: readonly Reply[]): void {
    this.#bytes -= bytes
    if (reply === undefined || reply instanceof Error || others.length > 0) return
    this.#replyBytes = Math.max(lengthOf(reply.value), this.#replyBytes * decay)
  }

  /**
   * Whether a reply of unknown length may be asked for, where a script could limit its length. At most 32 are in
   * flight then, because all of them may turn out to be long.
   */
  get hasRoomForUnknown(): boolean {
    const bytes = Math.max(minBytesOfUnknown, this.#replyBytes)
    return this.#bytes === 0 || this.#bytes + bytes <= maxBytes / 2
  }

  #bytesOf({ parts, replyBytes }: Command): number {
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    if (replyBytes !== undefined) return length + replyBytes
    return Math.max(minBytesOfUnknown, length + this.#replyBytes)
  }
}

function lengthOf(value: RedisValue): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, part) => sum + lengthOf(part), 0)
  return Buffer.isBuffer(value) ? value.length : 0
}

/** Counts for all connections of a store. */
export class Traffic implements StoreTraffic {
  reconnections = 0
  redirections = 0
  unknownOutcomes = 0
  onRoundTrip: ((seconds: number) => void) | undefined
  /** The connections that are not closed. */
  readonly connections = new Set<{ readonly inFlight: number; readonly waiting: number }>()

  get inFlight(): number {
    return [...this.connections].reduce((sum, { inFlight }) => sum + inFlight, 0)
  }

  get waiting(): number {
    return [...this.connections].reduce((sum, { waiting }) => sum + waiting, 0)
  }
}
