/** Where the client gets its token from. @module */

import { wrong } from './item-store-error.js'

/** An access token (spec §5), or a function that gets one: called at first, and again when the token has expired. */
export type Token = string | (() => string | Promise<string>)

export interface TokenSource {
  /** The current token; concurrent calls share one request for it. */
  current(): Promise<string>
  /** The token is no longer valid. @returns whether there may be another one. */
  forget(used: Promise<string> | undefined): boolean
}

/** @throws {TypeError} when there is no token, or none that could be sent. */
export function createTokenSource(token: Token | undefined): TokenSource {
  const isFunction = typeof token === 'function'
  if (!isFunction) checked(token)
  const ask = async () => checked(isFunction ? await token() : token)
  let latest: Promise<string> | undefined
  return {
    current() {
      latest ??= ask()
      return latest
    },
    forget(used) {
      if (latest === used) latest = undefined // otherwise another call has already asked again
      return isFunction
    },
  }
}

/** The errors do not show the token, because errors get logged. */
function checked(token: unknown): string {
  // RFC 6750 §2.1. A line break from the end of a file is the usual reason.
  if (typeof token === 'string' && /^[\w.~+/=-]+$/.test(token)) return token
  throw wrong(`token is ${token ? 'not a token: is there white space in it?' : 'missing'}`)
}
