/** Entity tags, so that a client is not sent what it already has (RFC 9110 §8.8.3 and §13.1.2). @module */

import { createHash } from 'node:crypto'
import type { Exchange } from './exchange.js'

/** A strong tag: different bytes have different tags. */
export function entityTag(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url')}"`
}

/** Whether the client already has what this tag identifies, weak tags (`W/`) included. */
export function isNotModified({ request }: Exchange, tag: string): boolean {
  const known = request.headers['if-none-match'] ?? ''
  return known.trim() === '*' || known.match(/"[^"]*"/g)?.includes(tag) === true
}
