/** What a token says about itself, in words. The service alone verifies it. @module */

const words = new Intl.RelativeTimeFormat('en')
/** In seconds. */
const units = { day: 86_400, hour: 3_600, minute: 60 } as const

/** The caller that a token names. */
export function subjectOf(token: string): string {
  const { sub } = claimsOf(token)
  return typeof sub === 'string' && sub !== '' ? sub : 'unknown'
}

/** `expires in 23 hours`, `expired 2 days ago`. */
export function expiryOf(token: string, now = Date.now()): string {
  const { exp } = claimsOf(token)
  if (typeof exp !== 'number') return 'without expiry'
  const left = exp - now / 1000
  const verb = left > 0 ? 'expires' : 'expired'
  for (const unit of ['day', 'hour', 'minute'] as const) {
    const count = Math.trunc(left / units[unit])
    if (count !== 0) return `${verb} ${words.format(count, unit)}`
  }
  return left > 0 ? 'expires within a minute' : 'expired just now'
}

/** Nothing for a text that is no token. */
function claimsOf(token: string): { readonly sub?: unknown; readonly exp?: unknown } {
  try {
    const payload = token.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? ''
    const bytes = Uint8Array.from(atob(payload), (sign) => sign.charCodeAt(0))
    return Object(JSON.parse(new TextDecoder().decode(bytes))) // its members are checked above
  } catch {
    return {}
  }
}
