/** This service with settings of its own, as a process of its own. */

import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Service, serviceAt } from '../conformance/client.js'
import { type Command, type Exit, type OwnProcess, ownProcess } from './own-process.js'

export interface OwnService extends Service, OwnProcess {
  /** The lines it has logged so far. */
  readonly log: readonly Record<string, unknown>[]
  /** Tells it to end, and waits until it has. @throws {Error} when it does not within 20 seconds. */
  stop(): Promise<Exit>
}

/** The command as it is published. */
export const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url))

/** The end of the line of the log that says where the service listens. */
const listening = /"msg":"listening on (.*)"\}\n/

/** A test that starts services of its own: skipped where `BASE_URL` names the one to test. */
export const ownTest = process.env.BASE_URL ? test.skip : test

/**
 * Starts this service; it ends with the test, or with the file of tests, whatever happens.
 * @param env its complete environment. `JWT_SECRET` is random unless given, and a delay of the event
 * loop is no overload unless `MAX_EVENT_LOOP_DELAY` is given, as any machine can be busy for a while.
 * @param command what starts it, without host and port.
 * @throws {Error} when it ends, or does not listen in time.
 */
export async function ownService(
  env: NodeJS.ProcessEnv = {},
  command: Command = [process.execPath, cli, 'serve'],
): Promise<OwnService> {
  const secret = env.JWT_SECRET ?? randomBytes(32).toString('base64url')
  const own = ownProcess([...command, '--port', '0', '--host', '127.0.0.1'], {
    cwd: dirname(cli), // a file .env in the folder of the tests must not change the settings
    env: { MAX_EVENT_LOOP_DELAY: '60000', ...env, JWT_SECRET: secret },
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
