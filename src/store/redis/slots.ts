/** The slots of a cluster: of keys, and of what its servers say about them. @module */

import type { Reply } from './client.js'
import { refusalOf } from './failures.js'

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

/**
 * The masters by slot, each as host and port, from what CLUSTER SLOTS answers: for each range of slots
 * its first, its last and its servers, of which the first is the master. Slots without one are left out.
 * @param answering the server that says so; one that does not know a host means this one's.
 */
export function mastersOf(reply: Reply, answering: string): Map<number, string> {
  const masters = new Map<number, string>()
  for (const range of listIn(reply)) {
    const [first, last, master] = listIn(range)
    const [host, port] = listIn(master)
    const address = addressOf(String(host ?? ''), String(port), answering)
    for (let slot = Number(first); slot <= Number(last); slot += 1) masters.set(slot, address)
  }
  return masters
}

/** Where a key is instead. */
export interface Redirection {
  /** Host and port. */
  readonly address: string
  /** Whether only for the next command, since the slot is being handed over key by key. */
  readonly isOnce: boolean
}

/** @param answering host and port of the server that has refused a command. */
export function redirectionOf(error: unknown, answering: string): Redirection | undefined {
  const [, kind, host, port] = /^(MOVED|ASK) \d+ (\S*):(\d+)$/.exec(refusalOf(error) ?? '') ?? []
  if (host === undefined || port === undefined) return undefined
  return { address: addressOf(host, port, answering), isOnce: kind === 'ASK' }
}

function addressOf(host: string, port: string, answering: string): string {
  if (host === '') return answering.replace(/(:\d+)?$/, `:${port}`)
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function listIn(reply: Reply | undefined): Reply[] {
  return Array.isArray(reply) ? reply : []
}
