/** `item-store health`: what a container runs to check itself. @module */

import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { paths, prefix } from '../interface/paths.js'
import { UsageError } from '../usage-error.js'
import { readFlags } from './flags.js'
import { print } from './print.js'
import { readSettings } from './settings.js'

/** Maximum time for the answer, in milliseconds. */
const timeout = 5_000

/** What `URL` would repair into another address is none, nor is one that a path cannot be added to. */
const baseUrl = /^https?:\/\/[^\s/\\?#][^\s\\?#]*$/i

/** Exits with code 0 if the service is healthy, otherwise with 1 and a line that says why. */
export async function run(args: string[]): Promise<void> {
  try {
    await assertHealthy(healthUrl(args))
    print('healthy\n')
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    // Not 2, the exit code of other usage errors: in health checks of containers it is reserved.
    process.exitCode = 1
    process.stderr.write(`item-store: ${error.message.replaceAll('\n', '; ')}\n`)
  }
}

/** @throws {UsageError} */
function healthUrl(args: string[]): URL {
  const string = { type: 'string' } as const
  const values = readFlags('health', args, { host: string, port: string, url: string })
  if (typeof values.url !== 'string') {
    const { host, port } = readSettings(values)
    if (port === 0) throw new UsageError('PORT is 0, any free port; name the service with --url')
    const url = `http://${ownAddress(host)}:${port}${prefix}${paths.health}`
    if (URL.canParse(url)) return new URL(url)
    // An IPv6 address with a zone, for example (WHATWG URL: zones are no part of a host).
    throw new UsageError(
      `HOST is ${JSON.stringify(host)}, which cannot be part of a URL; name the service with --url`,
    )
  }
  if (!baseUrl.test(values.url) || !URL.canParse(values.url)) {
    throw new UsageError(
      `--url is ${JSON.stringify(values.url)}; expected a base URL such as http://localhost:8000${prefix}`,
    )
  }
  return new URL(`${values.url.replace(/\/+$/, '')}${paths.health}`)
}

/** Where a service that listens on this address can be reached from its own machine. */
function ownAddress(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** @throws {UsageError} that says why the service is not known to be healthy. */
async function assertHealthy(url: URL): Promise<void> {
  const { status, body } = await ask(url).catch(
    ({ name, code, message }: NodeJS.ErrnoException) => {
      const reason = name === 'AbortError' ? `no answer within ${timeout} ms` : (code ?? message)
      throw new UsageError(`${url} cannot be reached: ${reason}`)
    },
  )
  const health = statusIn(body)
  if (status === 200 && health === 'healthy') return
  throw new UsageError(`${url} answered ${status}${health === undefined ? '' : `, ${health}`}`)
}

async function ask(url: URL): Promise<{ status: number | undefined; body: string }> {
  const { get } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { signal: AbortSignal.timeout(timeout) }, resolve).on('error', reject)
  })
  return { status: response.statusCode, body: await text(response) }
}

/** The `status` of a health response; `undefined` for any other body. */
function statusIn(body: string): unknown {
  try {
    return Object(JSON.parse(body)).status
  } catch {
    return undefined
  }
}
