/** The command `item-store token`, and checks of the token secret that all commands use. @module */

import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { readFile } from '../auth/read-file.js'
import { environmentSigning, signingProblem, signToken } from '../auth/secret.js'
import { observeSecretFile, secretFile } from '../auth/secret-file.js'
import { addToEnvironment } from '../config/env-file.js'
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
  await loadEnvironment()
  requireSecret()
  return signToken(sub, lifetime)
}

/** Reads `.env` and the secret file, and returns the names of the variables that `.env` has set. @throws {UsageError} */
export async function loadEnvironment(): Promise<ReadonlySet<string>> {
  const file = await new Promise<Buffer>((resolve, reject) => {
    readFile('.env', reject).then(resolve, reject)
  }).catch((cause: NodeJS.ErrnoException) => {
    // Ignores a folder (`.env` may be a Python environment), a missing file, and a broken link, as dotenv does.
    if (['EISDIR', 'ENOENT'].includes(cause.code ?? '')) return undefined
    throw new UsageError(`.env in the working directory cannot be read: ${cause.message}`, {
      cause,
    })
  })
  const names = file === undefined ? new Set<string>() : addToEnvironment(file)
  const { JWT_SECRET_FILE } = process.env
  if (JWT_SECRET_FILE) await secretFile(JWT_SECRET_FILE).firstRead
  return names
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

/** Generates a secret if none is set, and returns whether it did. @throws {UsageError} */
export function ensureSecret(): boolean {
  const { env } = process
  const isMissing = !env.JWT_SECRET_FILE && !env.JWT_SECRET
  if (isMissing) env.JWT_SECRET = randomBytes(recommendedLength).toString('base64url')
  requireSecret()
  return isMissing
}

/** Logs warnings about the secrets, and later each change of the secret file. */
export function logSecrets(log: Pick<Logger, 'info' | 'warn' | 'error'>): void {
  const isUsable = signingProblem(environmentSigning) === undefined
  const secrets = isUsable ? [environmentSigning().secrets].flat() : []
  const length = Math.min(...secrets.map((secret) => Buffer.byteLength(secret)))
  const variable = process.env.JWT_SECRET ? 'JWT_SECRET' : 'a secret in JWT_SECRET_FILE'
  if (length < recommendedLength) {
    log.warn(`${variable} has only ${length} of the recommended ${recommendedLength} bytes`)
  }
  if (secrets.some((secret) => secret !== secret.trim())) {
    log.warn(`${variable} begins or ends with white space, which is part of the secret`)
  }
  observeSecretFile(({ secrets, problem }) => {
    if (problem !== undefined) log.error(`${problem}. The previous secrets remain valid`)
    else log.info({ secrets: secrets.length }, 'JWT_SECRET_FILE has changed and was read')
  })
}
