/** Access tokens for the load: JSON Web Tokens signed with HS256. */

import { createHmac } from 'node:crypto'

const lifetime = 24 * 60 * 60 // seconds; longer than any run
const header = base64url({ alg: 'HS256', typ: 'JWT' })

/** A valid token that names the caller `sub`. */
export function signToken(secret, sub) {
  const iat = Math.floor(Date.now() / 1000)
  const signed = `${header}.${base64url({ sub, iat, exp: iat + lifetime })}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

function base64url(value) {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
