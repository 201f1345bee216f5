/** The command `item-store conformance`. @module */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { environmentSigning } from '../auth/secret.js'
import { loadEnvFile } from '../config/env-file.js'
import { readArguments } from '../config/flags.js'
import { packageFile } from '../config/package.js'
import { messageOf, UsageError } from '../config/usage-error.js'
import { prefix } from '../interface/names.js'
import { requireSecret } from './secret.js'

/** Formats of the report. Node's test runner prints TAP itself; for all other formats, this package has a reporter. */
const reporters = ['spec', 'tap', 'junit']

/** Algorithm with which the tests sign tokens. Every implementation supports this algorithm (spec §5.3). */
const algorithm = 'HS256'

/** Maximum time to wait for the first response of the service, in milliseconds. */
const answerTimeout = 30_000

/** Runs the conformance tests against a service, and prints their report. The exit code is 1 if a test fails. */
export async function conformance(args: string[]): Promise<undefined> {
  const options = { reporter: { type: 'string', default: 'spec' } } as const
  const { values, positionals } = readArguments('conformance', args, options, true)
  const url = baseUrlIn(positionals)
  const reporter = String(values.reporter)
  if (!reporters.includes(reporter)) {
    throw new UsageError(`--reporter is ${JSON.stringify(reporter)}; expected spec, tap or junit`)
  }
  loadEnvFile()
  requireSecret()
  const signing = environmentSigning()
  if (signing.algorithm !== algorithm) {
    throw new UsageError(
      `JWT_ALGORITHM is not ${algorithm}, which the tests sign their tokens with`,
    )
  }
  await requireAnswer(url)

  const folder = packageFile('dist')
  const own = pathToFileURL(join(folder, `conformance-${reporter}.js`)).href
  // Under Node's test runner, NODE_TEST_CONTEXT is set. With this variable, the tests would report to that runner.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const child = spawn(
    process.execPath,
    [
      `--test-reporter=${reporter === 'tap' ? reporter : own}`,
      join(folder, 'conformance-tests.js'),
    ],
    {
      env: { ...env, BASE_URL: url, JWT_SECRET: [signing.secrets].flat()[0] },
      stdio: 'inherit',
    },
  )
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => child.kill(signal))
  }
  const [code] = await once(child, 'exit')
  process.exitCode = code === 0 ? 0 : 1
}

/** @throws {UsageError} if there is not exactly one URL, or if it is malformed. */
function baseUrlIn([url, ...more]: string[]): string {
  const example = `http://localhost:8000${prefix}`
  if (url === undefined || more.length > 0) {
    throw new UsageError(`expected one address, such as item-store conformance ${example}`)
  }
  const isBaseUrl = URL.canParse(url) && /^https?:\/\/[^/?#@]+(?:\/[^?#]*)?\/api\/v1\/?$/i.test(url)
  if (!isBaseUrl) {
    throw new UsageError(`${JSON.stringify(url)} is not a base URL; expected one like ${example}`)
  }
  return url
}

/** Checks that a service responds at the URL, whatever the status. @throws {UsageError} if nothing responds. */
async function requireAnswer(url: string): Promise<void> {
  try {
    const signal = AbortSignal.timeout(answerTimeout)
    const response = await fetch(url, { signal, redirect: 'manual' })
    await response.body?.cancel()
  } catch (error) {
    const reason = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new UsageError(`nothing responds at ${url}: ${messageOf(reason)}`)
  }
}
