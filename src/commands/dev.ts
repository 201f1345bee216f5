/** `item-store dev`. @module */

import { readFileSync } from 'node:fs'
import { devFlags, readArguments } from '../config/flags.js'
import { readSettings } from '../config/read-config.js'
import { defaultToRandomSecret, requireSecret } from '../config/secret.js'
import { flags } from '../config/settings.js'
import { isSystemError } from '../config/thrown.js'
import { unknownNameWarnings } from '../config/unknown-names.js'
import { UsageError } from '../config/usage-error.js'
import { createDoubles } from '../doubles/doubles.js'
import { parseDelay, parseFailures } from '../doubles/options.js'
import { documentPath, pagePaths, paths, prefix } from '../interface/paths.js'
import type { ItemRequest } from '../item/item-request.js'
import { InvalidSeedError, parseSeed } from '../item/seed.js'
import { start } from '../process/start.js'

const tokenHours = 24

/** Serves for development, and prints what a developer needs to try it. */
export async function run(args: string[]): Promise<undefined> {
  const { values } = readArguments('dev', args, { ...flags, ...devFlags })
  const config = readSettings(values, { host: '127.0.0.1', console: 'on' })
  const delay = typeof values.delay === 'string' ? parseDelay(values.delay) : undefined
  const failures = typeof values.failures === 'string' ? parseFailures(values.failures) : undefined
  const items = typeof values.seed === 'string' ? readSeed(values.seed) : undefined
  const hasSecret = defaultToRandomSecret()
  requireSecret()
  const { server, log } = await start(config, {
    isReadable: true,
    requestLogLevel: 'info',
    items: items ?? [],
    doubles: delay || failures ? createDoubles({ delay, failures }) : undefined,
  })
  for (const warning of unknownNameWarnings()) log.warn(warning)

  const { signToken } = await import('../auth/sign.js')
  const { iat, exp, words } = hasSecret ? calendarYears() : hoursFromNow()
  const count = items?.length === 1 ? '1 item' : `${items?.length} items`
  const seeded = server.isSeeded
    ? `${count} from ${values.seed}`
    : 'not stored, since the store already has items'
  const seed = items === undefined ? '' : `\n  seed       ${seeded}`
  const token = await signToken('dev', exp - iat, { iat })
  const url = `${server.url}${prefix}${paths.items}`
  const pages = [
    ...(config.console ? [`  items page ${linkTo(server.url + pagePaths.items, token)}`] : []),
    ...(config.docs ? [`  API page   ${linkTo(server.url + pagePaths.docs, token)}`] : []),
  ]
  process.stdout.write(`
  interface  ${server.url}${prefix}
${config.docs ? `  document   ${server.url}${documentPath}\n` : ''}  token      valid ${words}${seed}
  items      ${config.storeUrl === undefined ? 'lost when the service stops' : 'on the server that STORE_URL names'}
${pages.map((line) => `${line}\n`).join('')}
Paste this into another terminal:

TOKEN=${token}
curl -w '\\n' ${url} -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{"data": {"name": "first"}}'
curl -w '\\n' ${url} -H "Authorization: Bearer $TOKEN"

`)
}

/** A page's address, which in a terminal leads to the page with the token. */
function linkTo(page: string, token: string): string {
  // OSC 8, which terminals without links leave out: then the page asks for the token.
  return process.stdout.isTTY ? `\x1b]8;;${page}#token=${token}\x1b\\${page}\x1b]8;;\x1b\\` : page
}

/** @throws {UsageError} with the file and, if its text is at fault, line and column. */
function readSeed(file: string): ItemRequest[] {
  try {
    const bytes = readFileSync(file)
    const items = parseSeed(bytes)
    if (items.length === 1 && isFromJsonServer(bytes)) throw new UsageError(file + fromJsonServer)
    return items
  } catch (error) {
    if (error instanceof InvalidSeedError) throw new UsageError(`${file}: ${error.message}`)
    if (!isSystemError(error)) throw error
    throw new UsageError(`the seed ${file} cannot be read: ${error.message}`)
  }
}

const fromJsonServer =
  ' looks like a file of json-server, which would be one item; convert it as docs/how-to/from-json-server.md says, or put one item that looks like this into [ ]'

/** Whether a file is one object of collections: arrays, of objects where one is not empty, and single objects. */
function isFromJsonServer(file: Buffer): boolean {
  const collections: unknown[] = Object.values(JSON.parse(new TextDecoder().decode(file)))
  const isObject = (value: unknown) => typeof value === 'object' && value !== null
  const isList = (value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.every(isObject)
  const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0
  const isCollection = (value: unknown) =>
    isList(value) || isEmpty(value) || (isObject(value) && !Array.isArray(value))
  return collections.some(isList) && collections.every(isCollection)
}

/** When a token is issued and when it expires, in Unix time in seconds, and the latter in words. */
function hoursFromNow() {
  const iat = Math.floor(Date.now() / 1000)
  const exp = iat + tokenHours * 3600
  return { iat, exp, words: `for ${tokenHours} hours, until ${formatTime(exp)}` }
}

/**
 * The same for this year and the next: with a secret that stays the same, the token is the same text at every start in
 * a calendar year, and one that was pasted somewhere remains valid for at least another year.
 */
function calendarYears() {
  const year = new Date().getUTCFullYear()
  const startOf = (year: number) => Date.UTC(year, 0) / 1000
  const exp = startOf(year + 2)
  const words = `until ${formatTime(exp)}; the same at every start in ${year}`
  return { iat: startOf(year), exp, words }
}

/** A Unix time in seconds as `2026-01-31 12:00 UTC`. */
function formatTime(time: number): string {
  return `${new Date(time * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
