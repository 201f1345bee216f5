/** Starts the command and this service as separate processes with their own settings. */

import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Limits } from '../../src/config/settings.js'
import { type Service, serviceAt } from '../conformance/client.js'
import { type Command, type Exit, freePort, type OwnProcess, ownProcess, until } from './process.js'
import { cleanEnvironment, emptyFolder } from './tools.js'

export interface OwnService extends Service, OwnProcess {
  readonly log: readonly Record<string, unknown>[]
  /** Sends SIGTERM. @throws {Error} if the service does not end in time. */
  stop(): Promise<Exit>
}

export const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url))

/** Starts the command with the variables of `cleanEnvironment` and with `variables`. */
export function startCommand(
  args: readonly string[],
  variables: NodeJS.ProcessEnv = {},
  cwd = emptyFolder(),
): OwnProcess {
  const env = { ...cleanEnvironment(), ...variables }
  return ownProcess([process.execPath, cli, ...args], { cwd, env })
}

/** Like `startCommand`, but blocks this process until the command has ended. */
export function runCommand(
  args: readonly string[],
  variables: NodeJS.ProcessEnv = {},
  cwd = emptyFolder(),
) {
  const env = { ...cleanEnvironment(), ...variables }
  const options = { cwd, env, encoding: 'utf8', timeout: 300_000 } as const // the time limit ends a command that hangs
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], options)
  return { status, stdout, stderr }
}

const calmEventLoop = new URL('calm-event-loop.js', import.meta.url).href

const serveWithLimits = fileURLToPath(new URL('serve-with-limits.js', import.meta.url))

export function withLimits(limits: Partial<Limits>): Command {
  return [process.execPath, serveWithLimits, JSON.stringify(limits)]
}

const listening = /"msg":"listening on (.*)"\}\n/

export async function healthyAt(port: number, secret: string): Promise<Service> {
  const service = serviceAt(new URL(`http://127.0.0.1:${port}/api/v1`), secret)
  await until('the service is healthy', async () => {
    const health = await service.request('GET', '/health').catch(() => undefined) // fails until the service listens
    return health?.status === 200
  })
  return service
}

/** Defines a test that starts its own services, and is skipped if `BASE_URL` names a service. */
export const ownTest = process.env.BASE_URL ? test.skip : test

/** Like `ownTest`, for tests that need `/proc` or file descriptor limits. */
export const linuxTest = process.platform === 'linux' ? ownTest : test.skip

/** @param env complete environment of the service. By default, `JWT_SECRET` is random. */
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

export async function measuredService(env: NodeJS.ProcessEnv = {}, command?: Command) {
  const port = await freePort()
  const own = await ownService({ ...env, METRICS_PORT: String(port) }, command)
  const metricsUrl = `http://127.0.0.1:${port}/metrics`
  const metrics = async () => await (await fetch(metricsUrl)).text()
  return {
    ...own,
    metricsUrl,
    metrics,
    async waitingReads(): Promise<number> {
      return Number(
        /^item_store_limit_value\{limit="waiting reads"\} (\d+)$/m.exec(await metrics())?.[1],
      )
    },
  }
}
