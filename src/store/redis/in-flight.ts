/** Limits the bytes of commands and replies in flight on a connection, and counts traffic. @module */

import type { StoreTraffic } from '../item-store.js'
import type { Command, RedisValue, Reply } from './client.js'

const maxBytes = 32 * 1024 * 1024 // of commands and their replies
const minBytes = 32 * 1024 // counted for each call, so at most 1,024 are in flight
const minBytesOfUnknown = 512 * 1024 // counted for a reply of unknown length, so at most 64 are in flight
const decay = 0.95 // of the expected reply length per short reply; after 44 of them, a tenth remains

export class InFlightLimit {
  #bytes = 0
  #replyBytes = maxBytes / 4 // expected length of a reply: that of the longest recent one

  /** Reserves bytes for a call. Returns their number, for `give` after the replies; `undefined` if it must wait. */
  take(commands: readonly Command[]): number | undefined {
    const bytes = commands.reduce((sum, command) => sum + this.#bytesOf(command), 0)
    const counted = Math.max(minBytes, bytes)
    if (this.#bytes > 0 && this.#bytes + counted > maxBytes) return undefined
    this.#bytes += counted
    return counted
  }

  /** Releases a call's bytes. If it had a single reply, updates the expected reply length. */
  give(bytes: number, [reply, ...others]: readonly Reply[]): void {
    this.#bytes -= bytes
    if (reply === undefined || reply instanceof Error || others.length > 0) return
    this.#replyBytes = Math.max(lengthOf(reply.value), this.#replyBytes * decay)
  }

  /** Whether a list may request another reply of unknown length. Lists use half the limit: up to 32 replies. */
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

export class Traffic implements StoreTraffic {
  reconnections = 0
  redirections = 0
  unknownOutcomes = 0
  onRoundTrip: ((seconds: number) => void) | undefined
  readonly connections = new Set<Record<'inFlight' | 'waiting', ReadonlySet<unknown>>>()

  get inFlight(): number {
    return [...this.connections].reduce((sum, { inFlight }) => sum + inFlight.size, 0)
  }

  get waiting(): number {
    return [...this.connections].reduce((sum, { waiting }) => sum + waiting.size, 0)
  }
}
