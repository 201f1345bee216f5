#!/usr/bin/env node
/** The `item-store` command. @module */

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import { authFault } from './auth/secret.js'
import { signToken } from './auth/sign.js'
import { type Config, describeSettings, flags, readConfig } from './config.js'
import { openApiDocument } from './http/openapi.js'
import { createLog } from './log.js'
import { type Server, startServer } from './server.js'
import { UsageError } from './usage-error.js'

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string } // this package's own manifest

const help = `item-store ${version}: a JSON HTTP API that keeps free-form items in memory

Usage:
  item-store serve [settings]   serve; needs JWT_SECRET in the environment
  item-store dev [settings]     serve with a secret for this run; prints a token and examples
  item-store token --sub NAME [--expires 1h]
                                print a token signed with JWT_SECRET (lifetime in s, m, h or d)
  item-store openapi            print the interface as an OpenAPI document
  item-store --help | --version

Settings, as flag or in the environment [default]:
${describeSettings()}

Only in the environment, read at each verification of a token:
  JWT_SECRET            secret that tokens are signed with; at least 32 bytes recommended
  JWT_ALGORITHM         HS256, HS384 or HS512 [HS256]

A file .env in the working folder is read too; the real environment wins over it.
`

const recommendedSecretBytes = 32 // RFC 7518 §3.2
const makeSecret = `JWT_SECRET=$(node -p "crypto.randomBytes(32).toString('base64url')")`
const stopSignals = ['SIGINT', 'SIGTERM'] as const
const devTokenLifetime = 24 * 60 * 60 // seconds
/** Ctrl-C in a terminal comes twice where npm is in between: from the terminal, and passed on by npm. */
const sameSignal = 100 // milliseconds
const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

const [command, ...args] = process.argv.slice(2)
try {
  if (existsSync('.env')) loadEnvFile()
  await run(command, args)
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message.replaceAll(/^/gm, 'item-store: ')}\n`)
  process.exitCode = 2
}

function loadEnvFile(): void {
  try {
    process.loadEnvFile('.env')
  } catch {
    throw new UsageError('.env in the working folder cannot be read')
  }
}

async function run(command: string | undefined, args: string[]): Promise<void> {
  switch (command) {
    case 'serve':
      return await serve(args)
    case 'dev':
      return await dev(args)
    case 'token':
      return await printToken(args)
    case 'openapi':
      if (readFlags(args, {}).help) return print(help)
      return print(JSON.stringify(openApiDocument(version), null, 2))
    case '--version':
      return print(version)
    case '--help':
      return print(help)
    case undefined:
      throw new UsageError(
        'expected a command: serve, dev, token or openapi; see item-store --help',
      )
    default:
      throw new UsageError(`"${command}" is no command; see item-store --help`)
  }
}

async function serve(args: string[]): Promise<void> {
  const config = readServerConfig(args)
  if (config === undefined) return
  needAuth()
  const log = newLog(config)
  await start(config, log)
  const length = Buffer.byteLength(process.env.JWT_SECRET ?? '')
  if (length < recommendedSecretBytes) {
    log.warn(`JWT_SECRET has ${length} bytes; at least ${recommendedSecretBytes} are safe`)
  }
}

async function dev(args: string[]): Promise<void> {
  const config = readServerConfig(args)
  if (config === undefined) return
  process.env.JWT_SECRET ||= randomBytes(recommendedSecretBytes).toString('base64url')
  needAuth()
  const server = await start(config, newLog(config))
  const token = await signToken('dev', devTokenLifetime)
  print(`
The items are gone when this stops. Paste into another terminal:

TOKEN=${token}
BASE=${server.url}/api/v1

curl $BASE/health
curl -X POST $BASE/items -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{"data": {"name": "first"}, "project_id": "demo"}'
curl $BASE/items -H "Authorization: Bearer $TOKEN"
`)
}

async function printToken(args: string[]): Promise<void> {
  const values = readFlags(args, {
    sub: { type: 'string' },
    expires: { type: 'string', default: '1h' },
  })
  if (values.help) return print(help)
  if (typeof values.sub !== 'string' || values.sub === '') {
    throw new UsageError('--sub is missing; give the name of the caller, as in --sub alice')
  }
  needAuth()
  print(await signToken(values.sub, secondsOf(String(values.expires))))
}

/** The configuration, or `undefined` when only help was asked for. */
function readServerConfig(args: string[]): Config | undefined {
  const values = readFlags(args, flags)
  if (!values.help) return readConfig(values, process.env)
  print(help)
  return undefined
}

function readFlags(args: string[], options: typeof flags): Record<string, unknown> {
  try {
    return parseArgs({ args, options: { ...options, help: { type: 'boolean' } } }).values
  } catch (error) {
    const [reason] = error instanceof Error ? error.message.split('. ', 1) : [String(error)]
    throw new UsageError(`${reason}; see item-store --help`)
  }
}

function newLog({ logLevel }: Config): Logger {
  return createLog(logLevel, process.stdout.isTTY)
}

/** Makes sure that tokens can be signed and verified. */
function needAuth(): void {
  const fault = authFault()
  if (fault === undefined) return
  const remedy = process.env.JWT_SECRET ? '' : `; make one with: export ${makeSecret}`
  throw new UsageError(`${fault}${remedy}`)
}

/**
 * Serves until a signal says to stop; a second one ends the process at once. A fault that nothing
 * caught is logged and ends it too, with exit code 1, once what was accepted is answered.
 */
async function start(config: Config, log: Logger): Promise<Server> {
  const server = await startServer(config, version, log).catch((error: unknown) => {
    throw listenFault(error, config) ?? error
  })
  const options = {
    delay: config.shutdownTimeout * 1000,
    logger: log,
    skip: ['beforeExit' as const, ...stopSignals],
  }
  let stoppedAt: number | undefined
  const closing = closeWithGrace(options, async ({ signal, err }) => {
    stoppedAt ??= Date.now()
    if (signal !== undefined) log.info(`${signal}: stopping`)
    if (err !== undefined) log.fatal({ err }, 'a fault that nothing caught: stopping')
    await server.stop()
  })
  for (const signal of stopSignals) {
    process.on(signal, () => {
      if (stoppedAt === undefined) {
        log.info(`${signal}: stopping`)
        closing.close()
      } else if (Date.now() - stoppedAt > sameSignal) {
        log.error(`second ${signal}: ending at once`)
        process.exit(1)
      }
    })
  }
  return server
}

function listenFault(error: unknown, config: Config): UsageError | undefined {
  const { host, metricsPort } = config
  const { code, port }: { code?: unknown; port?: unknown } = Object(error)
  const flag = port === metricsPort && port !== config.port ? '--metrics-port' : '--port'
  switch (code) {
    case 'EADDRINUSE':
      return new UsageError(
        `port ${port} is in use; stop the program that uses it, or choose another with ${flag}`,
      )
    case 'EACCES':
      return new UsageError(`port ${port} may not be used by this user; choose one above 1023`)
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EAI_AGAIN':
    case 'EINVAL':
    case 'ENOTFOUND':
      return new UsageError(`${host} is no address of this machine; choose another with --host`)
    default:
      return undefined
  }
}

function secondsOf(duration: string): number {
  const [, amount, unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? []
  const seconds = Number(amount) * (unitSeconds[unit] ?? Number.NaN)
  if (Number.isSafeInteger(seconds) && seconds > 0) return seconds
  throw new UsageError(`--expires is "${duration}"; expected a time such as 90s, 15m, 1h or 7d`)
}

function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}
