/** Reads a token's claims, and describes them in words. Only the service verifies it. @module */

import { membersIn } from '../../src/client/item-store-error.js'

const words = new Intl.RelativeTimeFormat('en')
const units = { day: 86_400, hour: 3_600, minute: 60 } as const

/** Returns a token's claims; `undefined` if it lacks one that the service requires. */
export function claimsOf(token: string, now = Date.now()) {
  try {
    const payload = token.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? ''
    const bytes = Uint8Array.from(atob(payload), (sign) => sign.charCodeAt(0))
    const { sub, exp } = membersIn(new TextDecoder().decode(bytes))
    if (typeof sub !== 'string' || typeof exp !== 'number') return undefined
    return { subject: sub, expiry: expiryIn(exp - now / 1000) }
  } catch {
    return undefined
  }
}

/** Returns a phrase such as `expires in 23 hours`. @param left seconds until expiry; negative after it. */
function expiryIn(left: number): string {
  const verb = left > 0 ? 'expires' : 'expired'
  for (const unit of ['day', 'hour', 'minute'] as const) {
    const count = Math.trunc(left / units[unit])
    if (count !== 0) return `${verb} ${words.format(count, unit)}`
  }
  return left > 0 ? 'expires within a minute' : 'expired just now'
}
