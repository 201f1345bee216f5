/** Entity tags: what a client has already is not sent again (RFC 9110 §8.8.3 and §13.1.2). @module */

import { createHash } from 'node:crypto'
import type { Exchange } from './exchange.js'

/** A strong tag: other bytes have another one. */
export function entityTag(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url')}"`
}

/** Whether the client has what this tag identifies; `W/` makes no difference. */
export function isKnown({ request }: Exchange, tag: string): boolean {
  const known = request.headers['if-none-match'] ?? ''
  return known.trim() === '*' || known.match(/"[^"]*"/g)?.includes(tag) === true
}
