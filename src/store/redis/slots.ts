/** Computes the hash slot of a key in a Redis cluster, and parses slot tables and redirections. @module */

import { hostAndPort } from './address.js'
import { listIn, type RedisValue } from './client.js'
import { errorReplyOf } from './errors.js'

export const slotCount = 16_384

/** Returns a key's slot: CRC-16/XMODEM of the text in its first braces or, without braces, of the whole key. */
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

/** @param sender host and port of the server that replied. Its host replaces an empty one in the reply. */
export function mastersOf(reply: RedisValue | undefined, sender: string): Map<number, string> {
  const masters = new Map<number, string>()
  for (const range of listIn(reply)) {
    const [first, last, master] = listIn(range)
    const [host, port] = listIn(master)
    const address = hostAndPort(String(host ?? ''), String(port), sender)
    for (let slot = Number(first); slot <= Number(last); slot += 1) masters.set(slot, address)
  }
  return masters
}

/** Returns the address to which an error redirects a command. @param sender address of the server that replied. */
export function redirectionOf(error: unknown, sender: string) {
  const [, kind, host, port] = /^(MOVED|ASK) \d+ (\S*):(\d+)$/.exec(errorReplyOf(error) ?? '') ?? []
  if (host === undefined || port === undefined) return undefined
  return { address: hostAndPort(host, port, sender), isAsk: kind === 'ASK' }
}
