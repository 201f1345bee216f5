/** UUIDs: random ones (RFC 9562 §5.4), and ones that follow from names (§5.5). @module */

import { createHash, randomFillSync } from 'node:crypto'

/** Random bytes for 256 UUIDs: one system call for each would cost more than everything else. */
const pool = Buffer.alloc(256 * 16)
let next = pool.length

const text = Buffer.alloc(36, '-')
/** Positions of the two digits of each byte in the text. */
const positions = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const digits = Buffer.from('0123456789abcdef')

/**
 * A new UUID, version 4.
 *
 * `randomUUID` of `node:crypto` concatenates forty strings, which are flattened when the text is sent:
 * a tenth of the time of a small request (bench/CHOICES.md). This text is written in one piece.
 */
export function newUuid(): string {
  if (next === pool.length) {
    randomFillSync(pool)
    next = 0
  }
  const uuid = format(pool, next, 4)
  next += 16
  return uuid
}

/** The UUID of a name, version 5: the same for the same name in the same namespace, which is a UUID. */
export function uuidOf(namespace: string, name: string): string {
  const space = Buffer.from(namespace.replaceAll('-', ''), 'hex')
  return format(createHash('sha1').update(space).update(name).digest(), 0, 5)
}

/** Makes the 16 bytes from `start` on a UUID of this version, and writes it in lower case. */
function format(bytes: Buffer, start: number, version: number): string {
  bytes[start + 6] = (byteAt(bytes, start + 6) & 0x0f) | (version << 4)
  bytes[start + 8] = (byteAt(bytes, start + 8) & 0x3f) | 0x80 // the variant of RFC 9562
  let at = start
  for (const position of positions) {
    const byte = byteAt(bytes, at)
    text[position] = byteAt(digits, byte >>> 4)
    text[position + 1] = byteAt(digits, byte & 0x0f)
    at += 1
  }
  return text.toString('latin1')
}

function byteAt(bytes: Buffer, index: number): number {
  return bytes[index] as number // every index is within the bytes
}
