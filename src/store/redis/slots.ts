/** The slots of a cluster: of keys, and of what its servers say about them. @module */

import type { RedisValue } from './client.js'
import { errorReplyOf } from './errors.js'

export const slotCount = 16_384

/** The slot of a key, by what is in its first braces: CRC-16/XMODEM, as the servers have it. */
export function slotOf(key: string): number {
  const [, tag] = /^[^{]*\{([^}]+)\}/.exec(key) ?? []
  let sum = 0
  for (const byte of Buffer.from(tag ?? key)) {
    sum ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 0x8000 ? (sum << 1) ^ 0x1021 : sum << 1
    sum &= 0xffff
  }
  return sum % slotCount
}

/** Like `slotOf`, which takes 0.3 µs, for the keys of one store, of which there are no more than slots. */
export function rememberedSlots(): (key: string) => number {
  const slots = new Map<string, number>()
  return (key) => {
    const slot = slots.get(key) ?? slotOf(key)
    slots.set(key, slot)
    return slot
  }
}

/**
 * The masters by slot, each as host and port, from the reply to CLUSTER SLOTS: for each range of slots
 * its first, its last and its servers, of which the first is the master. Slots without one are left out.
 * @param sender host and port of the server that replies; a host that it leaves out is its own.
 */
export function mastersOf(reply: RedisValue, sender: string): Map<number, string> {
  const masters = new Map<number, string>()
  for (const range of listIn(reply)) {
    const [first, last, master] = listIn(range)
    const [host, port] = listIn(master)
    const address = addressOf(String(host ?? ''), String(port), sender)
    for (let slot = Number(first); slot <= Number(last); slot += 1) masters.set(slot, address)
  }
  return masters
}

/** Where a key is instead. */
export interface Redirection {
  /** Host and port. */
  readonly address: string
  /** Whether for this command alone, after ASKING: the slot is being handed over key by key. */
  readonly isAsk: boolean
}

/** @param sender host and port of the server that replied with the error. */
export function redirectionOf(error: unknown, sender: string): Redirection | undefined {
  const [, kind, host, port] = /^(MOVED|ASK) \d+ (\S*):(\d+)$/.exec(errorReplyOf(error) ?? '') ?? []
  if (host === undefined || port === undefined) return undefined
  return { address: addressOf(host, port, sender), isAsk: kind === 'ASK' }
}

function addressOf(host: string, port: string, sender: string): string {
  if (host === '') return sender.replace(/(:\d+)?$/, `:${port}`)
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function listIn(value: RedisValue | undefined): RedisValue[] {
  return Array.isArray(value) ? value : []
}
