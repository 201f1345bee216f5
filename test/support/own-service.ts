/** This service as a separate process, with its own settings. */

import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Limits } from '../../src/config/settings.js'
import { type Service, serviceAt } from '../conformance/client.js'
import { type Command, type Exit, type OwnProcess, ownProcess } from './own-process.js'

export interface OwnService extends Service, OwnProcess {
  /** The lines it has logged so far. */
  readonly log: readonly Record<string, unknown>[]
  /** Sends SIGTERM, and waits until it has ended. @throws {Error} if it does not end. */
  stop(): Promise<Exit>
}

/** The command as it is published. */
export const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url))

const calmEventLoop = new URL('calm-event-loop.js', import.meta.url).href

const serveWithLimits = fileURLToPath(new URL('serve-with-limits.js', import.meta.url))

/** The command that starts this service with other limits than those that follow from its settings. */
export function withLimits(limits: Partial<Limits>): Command {
  return [process.execPath, serveWithLimits, JSON.stringify(limits)]
}

/** The end of the log line that says where the service listens. */
const listening = /"msg":"listening on (.*)"\}\n/

/** A test that starts its own services: skipped if `BASE_URL` names the one to test. */
export const ownTest = process.env.BASE_URL ? test.skip : test

/**
 * Starts this service; it ends with the test, or with the test file, whatever happens.
 * @param env its complete environment. `JWT_SECRET` is random unless given.
 * @param command the command that starts it, without host and port. A delay of the event loop counts as overload
 * only with a limit for it from `withLimits`.
 * @throws {Error} if it ends, or does not listen in time.
 */
export async function ownService(
  env: NodeJS.ProcessEnv = {},
  command: Command = [process.execPath, cli, 'serve'],
): Promise<OwnService> {
  const secret = env.JWT_SECRET ?? randomBytes(32).toString('base64url')
  const isMeasured = command.some((word) => word.includes('maxEventLoopDelay'))
  const nodeOptions = [env.NODE_OPTIONS ?? '', isMeasured ? '' : `--import=${calmEventLoop}`]
  const own = ownProcess([...command, '--port', '0', '--host', '127.0.0.1'], {
    cwd: dirname(cli), // a file .env in the folder of the tests must not change the settings
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
