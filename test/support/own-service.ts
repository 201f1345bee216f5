/** Starts this service as a separate process with its own settings. */

import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Limits } from '../../src/config/settings.js'
import { type Service, serviceAt } from '../conformance/client.js'
import { type Command, type Exit, type OwnProcess, ownProcess } from './own-process.js'
import { until } from './until.js'

export interface OwnService extends Service, OwnProcess {
  /** All lines that the service has logged so far. */
  readonly log: readonly Record<string, unknown>[]
  /** Sends SIGTERM, and waits until the service has ended. @throws {Error} if it does not end in time. */
  stop(): Promise<Exit>
}

/** Path of the `item-store` program in the build. */
export const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url))

const calmEventLoop = new URL('calm-event-loop.js', import.meta.url).href

const serveWithLimits = fileURLToPath(new URL('serve-with-limits.js', import.meta.url))

/** Returns the command that starts this service with these limits in place of the usual limits. */
export function withLimits(limits: Partial<Limits>): Command {
  return [process.execPath, serveWithLimits, JSON.stringify(limits)]
}

/** Matches the end of the log line with the URL of the service. */
const listening = /"msg":"listening on (.*)"\}\n/

/** Waits until a service on this machine responds. @returns functions that send requests to the service. */
export async function respondingAt(port: number, secret: string): Promise<Service> {
  const service = serviceAt(new URL(`http://127.0.0.1:${port}/api/v1`), secret)
  await until('the service responds', () =>
    service.request('GET', '/health').catch(() => undefined),
  )
  return service
}

/** Defines a test that starts its own services. The test is skipped if `BASE_URL` names another service to test. */
export const ownTest = process.env.BASE_URL ? test.skip : test

/** Defines an `ownTest` that runs only on Linux, because the test uses `/proc` or file descriptor limits. */
export const linuxTest = process.platform === 'linux' ? ownTest : test.skip

/**
 * Starts this service until the end of the test. Outside a test, the service runs until the end of the test file.
 * @param env complete environment of the service. `JWT_SECRET` is random unless given.
 * @param command program and arguments that start the service, without host and port. A delayed event loop counts as
 * overload only if `withLimits` gives a `maxEventLoopDelay`.
 * @throws {Error} if the service ends, or does not listen in time.
 */
export async function ownService(
  env: NodeJS.ProcessEnv = {},
  command: Command = [process.execPath, cli, 'serve'],
): Promise<OwnService> {
  const secret = env.JWT_SECRET ?? randomBytes(32).toString('base64url')
  const isMeasured = command.some((word) => word.includes('maxEventLoopDelay'))
  const nodeOptions = [env.NODE_OPTIONS ?? '', isMeasured ? '' : `--import=${calmEventLoop}`]
  const own = ownProcess([...command, '--port', '0', '--host', '127.0.0.1'], {
    cwd: dirname(cli), // a `.env` file in the folder of the tests must not change the settings
    env: { ...env, NODE_OPTIONS: nodeOptions.join(' '), JWT_SECRET: secret },
  })
  const log: Record<string, unknown>[] = []
  createInterface({ input: own.child.stdout }).on('line', (line) => log.push(JSON.parse(line)))
  const [, url = ''] = listening.exec(await own.printed(listening)) ?? []
  return {
    ...serviceAt(new URL(`${url}/api/v1`), secret),
    ...own,
    log,
    stop() {
      own.child.kill('SIGTERM')
      return own.ended()
    },
  }
}
