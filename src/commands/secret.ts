/** The command `item-store token`, and checks of the token secret that all commands use. @module */

import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { environmentSigning, signingProblem, signToken } from '../auth/secret.js'
import { observeSecretFile } from '../auth/secret-file.js'
import { loadEnvFile } from '../config/env-file.js'
import { readArguments } from '../config/flags.js'
import { parseLifetime } from '../config/kinds.js'
import { UsageError } from '../config/usage-error.js'

const recommendedLength = 32

const exportSecret = `export JWT_SECRET=$(node -p "crypto.randomBytes(${recommendedLength}).toString('base64url')")`

const toSign =
  'use the secret of the service, which accepts no other. Without a JWT_SECRET, dev accepts only the token that it prints; for more, put a JWT_SECRET into .env'

export async function token(args: string[]): Promise<string> {
  const options = { sub: { type: 'string' }, expires: { type: 'string', default: '1h' } } as const
  const { sub, expires } = readArguments('token', args, options).values
  if (typeof sub !== 'string' || sub === '') {
    throw new UsageError('--sub is missing; name the caller, for example --sub alice')
  }
  const lifetime = parseLifetime(String(expires), '--expires')
  loadEnvFile()
  requireSecret()
  return signToken(sub, lifetime)
}

export function requireSecret(): void {
  const problem = secretProblem()
  const { JWT_SECRET, JWT_SECRET_FILE } = process.env
  const advice = JWT_SECRET || JWT_SECRET_FILE ? '' : `; ${toSign}`
  if (problem !== undefined) throw new UsageError(problem + advice)
}

function secretProblem(): string | undefined {
  const { JWT_SECRET, JWT_SECRET_FILE } = process.env
  if (!JWT_SECRET || !JWT_SECRET_FILE) return signingProblem(environmentSigning)
  throw new UsageError('JWT_SECRET and JWT_SECRET_FILE are both set; unset one of them')
}

/** Returns why tokens cannot be verified; `undefined` if they can. @throws {UsageError} if two secrets are set. */
export function missingSecretError(): string | undefined {
  const problem = secretProblem()
  if (problem === undefined) return undefined
  if (problem.startsWith('JWT_SECRET_FILE')) {
    return `${problem}: item requests get 503. Put a secret into the file; the service need not be restarted`
  }
  const remedy = problem.startsWith('JWT_ALGORITHM') ? 'unset JWT_ALGORITHM' : exportSecret
  return `${problem}: item requests get 503. Stop the service, type ${remedy} and start it again`
}

export function ensureSecret(): void {
  const { env } = process
  if (!env.JWT_SECRET_FILE) env.JWT_SECRET ||= randomBytes(recommendedLength).toString('base64url')
  requireSecret()
}

export function shortSecretWarnings(): string[] {
  if (signingProblem(environmentSigning) !== undefined) return []
  const lengths = environmentSigning().keys.map(({ symmetricKeySize }) => symmetricKeySize ?? 0)
  const length = Math.min(...lengths)
  if (length >= recommendedLength) return []
  const variable = process.env.JWT_SECRET ? 'JWT_SECRET' : 'a secret in JWT_SECRET_FILE'
  return [`${variable} has only ${length} of the recommended ${recommendedLength} bytes`]
}

export function logSecretFile(log: Pick<Logger, 'info' | 'error'>): void {
  observeSecretFile(({ secrets, problem }) => {
    if (problem !== undefined) log.error(`${problem}. The previous secrets remain valid`)
    else log.info({ secrets: secrets.length }, 'JWT_SECRET_FILE has changed and was read')
  })
}
