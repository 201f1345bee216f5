/** The command `item-store conformance`. @module */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { environmentSigning } from '../auth/secret.js'
import { readArguments } from '../config/flags.js'
import { packageFile } from '../config/package.js'
import { messageOf, UsageError } from '../config/usage-error.js'
import { prefix } from '../interface/paths.js'
import { loadEnvironment, requireSecret } from './secret.js'

const baseUrlForm = /^https?:\/\/[^/?#@]+(?:\/[^?#]*)?\/api\/v1\/?$/i

export async function conformance(given: string[]): Promise<undefined> {
  const options = { reporter: { type: 'string', default: 'spec' } } as const
  const { values, positionals } = readArguments('conformance', given, options, true)
  const url = baseUrlIn(positionals)
  const reporter = String(values.reporter)
  if (!['spec', 'tap', 'junit'].includes(reporter)) {
    throw new UsageError(`--reporter is ${JSON.stringify(reporter)}; expected spec, tap or junit`)
  }
  await loadEnvironment()
  requireSecret()
  const signing = environmentSigning()
  if (signing.algorithm !== 'HS256') {
    throw new UsageError('JWT_ALGORITHM is not HS256, which the tests sign their tokens with')
  }
  await requireAnswer(url)

  const own = pathToFileURL(packageFile(`dist/conformance-${reporter}.js`)).href
  const format = reporter === 'tap' ? reporter : own
  // Leaves out NODE_TEST_CONTEXT: with it, the tests would report to a test runner that has started this process.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const args = [`--test-reporter=${format}`, packageFile('dist/conformance-tests.js')]
  const child = spawn(process.execPath, args, {
    env: { ...env, BASE_URL: url, JWT_SECRET: [signing.secrets].flat()[0] },
    stdio: 'inherit',
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => child.kill(signal))
  }
  const [code] = await once(child, 'exit')
  process.exitCode = code === 0 ? 0 : 1
}

function baseUrlIn([url, ...more]: string[]): string {
  const example = `http://localhost:8000${prefix}`
  if (url === undefined || more.length > 0) {
    throw new UsageError(`expected one address, such as item-store conformance ${example}`)
  }
  if (!baseUrlForm.test(url) || !URL.canParse(url)) {
    throw new UsageError(`${JSON.stringify(url)} is not a base URL; expected one like ${example}`)
  }
  return url
}

async function requireAnswer(url: string): Promise<void> {
  try {
    const signal = AbortSignal.timeout(30_000)
    const response = await fetch(url, { signal, redirect: 'manual' })
    await response.body?.cancel()
  } catch (error) {
    const reason = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new UsageError(`nothing responds at ${url}: ${messageOf(reason)}`)
  }
}
