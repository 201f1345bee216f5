/** The address that a server listens on: its URL, and errors about it. @module */

import { UsageError } from './usage-error.js'

export interface ListenAddress {
  readonly port: number
  readonly host: string
}

/** Where a server can be reached from this machine, without a trailing slash. */
export function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * Explains an error of `listen`, and what to do about it; returns any other error as it is.
 * @param flags prefix of the flags that set the address.
 */
export function explainListenError(
  error: unknown,
  { port, host }: ListenAddress,
  flags: '--' | '--metrics-',
): unknown {
  switch (error instanceof Error && 'code' in error && error.code) {
    case 'EADDRINUSE':
      return new UsageError(
        `port ${port} is in use; stop the program that uses it or choose another port with ${flags}port`,
      )
    case 'EACCES':
      return new UsageError(
        `no permission to listen on port ${port}; choose one above 1023 with ${flags}port`,
      )
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EAI_AGAIN':
    case 'EINVAL':
    case 'ENOTFOUND':
      return new UsageError(
        `${host} is not an address of this machine; choose another address with ${flags}host`,
      )
    default:
      return error
  }
}
