/** Makes valid and invalid JSON Web Tokens without a library (RFC 7515, 7519). */

import { createHmac } from 'node:crypto'

export interface MintOptions {
  readonly secret: string
  readonly algorithm?: string // `alg` in the header; with `none`, the signature is empty
  readonly header?: object | string // members to add to the header, or its complete text
}

const hashes = new Map([
  ['HS384', 'sha384'],
  ['HS512', 'sha512'],
])

/** @param claims token payload: a value to serialize, or the exact text or bytes. */
export function mintToken(claims: unknown, options: MintOptions): string {
  const { secret, algorithm = 'HS256', header = {} } = options
  const headerText =
    typeof header === 'string' ? header : JSON.stringify({ alg: algorithm, typ: 'JWT', ...header })
  const signed = `${base64url(headerText)}.${base64url(payloadOf(claims))}`
  return `${signed}.${algorithm === 'none' ? '' : signatureOf(signed, secret, algorithm)}`
}

export function signatureOf(signed: string, secret: string, algorithm = 'HS256'): string {
  return createHmac(hashes.get(algorithm) ?? 'sha256', secret)
    .update(signed)
    .digest('base64url')
}

export function base64url(content: string | Uint8Array): string {
  return Buffer.from(content).toString('base64url')
}

export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds
}

export function claimsOf(token: string): ReturnType<typeof validClaims> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}

export function validClaims(): { sub: string; exp: number; iat: number } {
  return { sub: 'tester', exp: inSeconds(3600), iat: inSeconds(0) }
}

function payloadOf(claims: unknown): string | Uint8Array {
  return typeof claims === 'string' || claims instanceof Uint8Array
    ? claims
    : JSON.stringify(claims)
}
