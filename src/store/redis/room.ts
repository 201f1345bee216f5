/** How much may be in flight on a connection: commands and their replies, in bytes. @module */

import type { Command, RedisValue, Reply } from './client.js'

/** Neither end has to hold more than that. */
const maxBytes = 32 * 1024 * 1024
/** What a call of one or more commands, with the replies, takes at least: no more than 1,024 are in flight. */
const minBytes = 32 * 1024
/** The same while nothing is known of the reply: no more than 64 of them are in flight. */
const minBytesOfUnknown = 512 * 1024
/** What a later reply leaves of the length of the longest: a tenth after 44 short replies. */
const decay = 0.95

export class Room {
  #taken = 0
  /** How long a reply of unknown length is expected to be: as long as the longest of the recent ones. */
  #replyBytes = maxBytes / 4

  /** What commands that are sent together, and their replies, will take. */
  bytesFor(commands: readonly Command[]): number {
    const bytes = commands.reduce((sum, command) => sum + this.#bytesOf(command), 0)
    return Math.max(minBytes, bytes)
  }

  /** A single command may take more than all the room there is. */
  isEnoughFor(bytes: number): boolean {
    return this.#taken === 0 || this.#taken + bytes <= maxBytes
  }

  /**
   * Whether one more reply of unknown length may be asked for, where a script could limit it. No more than 32 are
   * in flight then: recent replies say little of the next ones, and these may all be long.
   */
  get isEnoughForUnknown(): boolean {
    const bytes = Math.max(minBytesOfUnknown, this.#replyBytes)
    return this.#taken === 0 || this.#taken + bytes <= maxBytes / 2
  }

  take(bytes: number): void {
    this.#taken += bytes
  }

  free(bytes: number): void {
    this.#taken -= bytes
  }

  freeAll(): void {
    this.#taken = 0
  }

  /** Learns from a reply; several that came together say nothing of a single one. */
  observe([reply, ...others]: readonly Reply[]): void {
    if (reply === undefined || reply instanceof Error || others.length > 0) return
    this.#replyBytes = Math.max(bytesIn(reply.value), this.#replyBytes * decay)
  }

  #bytesOf({ parts, replyBytes }: Command): number {
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    if (replyBytes !== undefined) return length + replyBytes
    return Math.max(minBytesOfUnknown, length + this.#replyBytes)
  }
}

function bytesIn(value: RedisValue): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, part) => sum + bytesIn(part), 0)
  return Buffer.isBuffer(value) ? value.length : 0
}
