/**
 * The service under test: the one that `BASE_URL` names, any implementation of the interface, or
 * this one, started as a process of its own for each file of tests.
 *
 * `BASE_URL` ends with `/api/v1`; `JWT_SECRET` has to be that service's own then.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Answer, type RequestOptions, send } from './client.js'
import { type MintOptions, mintToken, validClaims } from './tokens.js'

export interface Service {
  /** Ends with `/api/v1`. */
  readonly baseUrl: URL
  readonly secret: string
  /** Sends a request; the path is relative to the base url, as in the specification. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** Sends a request whose target is not put behind the base url's path. */
  requestTarget(method: string, target: string, options?: RequestOptions): Promise<Answer>
  /** Sends a request with a valid token and, where given, a value as JSON. */
  call(method: string, path: string, value?: unknown): Promise<Answer>
  /** A token signed with the service's secret unless the options say otherwise. */
  mint(claims: unknown, options?: Partial<MintOptions>): string
  validToken(): string
}

/** A service that the tests started themselves. */
export interface OwnService extends Service {
  readonly child: ChildProcess
  /** The lines it has logged so far. */
  readonly log: readonly Record<string, unknown>[]
  stop(): Promise<void>
}

const { BASE_URL, JWT_SECRET } = process.env

/** For `skip` of tests that cannot do with the service that `BASE_URL` names. */
export const needsOwnService = BASE_URL
  ? 'needs a service with settings of its own, and BASE_URL names one'
  : false

/** The compiled command. */
export const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))

/** The service for all tests of a file; stopped after them if it was started for them. */
export async function useService(): Promise<Service> {
  if (BASE_URL) {
    if (!JWT_SECRET) throw new Error('BASE_URL is set; set JWT_SECRET to its secret too')
    return serviceAt(new URL(BASE_URL.replace(/\/$/, '')), JWT_SECRET)
  }
  return await ownService()
}

/** This service with settings of its own; stopped after the tests. */
export async function ownService(env: NodeJS.ProcessEnv = {}): Promise<OwnService> {
  const service = await startService(env)
  after(() => service.stop())
  return service
}

/**
 * Starts this service as a process of its own.
 * @param env its whole environment; `JWT_SECRET` is random unless given.
 * @param command what starts it, without host and port.
 */
export async function startService(
  env: NodeJS.ProcessEnv = {},
  [program, ...args]: [string, ...string[]] = [process.execPath, cli, 'serve'],
): Promise<OwnService> {
  const secret = env.JWT_SECRET ?? randomBytes(32).toString('base64url')
  const child = spawn(program, [...args, '--port', '0', '--host', '127.0.0.1'], {
    cwd: dirname(cli), // a file .env in the folder of the tests must not change the settings
    env: { ...env, JWT_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => child.kill('SIGKILL'))

  const log: Record<string, unknown>[] = []
  const url = await listening(child, log)
  return {
    ...serviceAt(new URL(`${url}/api/v1`), secret),
    child,
    log,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Collects the child's log, and waits for the line that says where it listens. */
function listening(child: ChildProcess, log: Record<string, unknown>[]): Promise<string> {
  const { stdout } = child
  if (stdout === null) throw new Error('the standard output is not piped')
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the service ended with code ${code}`)))
    createInterface({ input: stdout }).on('line', (line) => {
      const entry: Record<string, unknown> = JSON.parse(line)
      log.push(entry)
      if (String(entry.msg).startsWith('listening on ')) resolve(String(entry.url))
    })
  })
}

function serviceAt(baseUrl: URL, secret: string): Service {
  const mint = (claims: unknown, options?: Partial<MintOptions>) =>
    mintToken(claims, { secret, ...options })
  const validToken = () => mint(validClaims())
  const request = (method: string, path: string, options?: RequestOptions) =>
    send(baseUrl, method, baseUrl.pathname + path, options)
  return {
    baseUrl,
    secret,
    request,
    requestTarget: (method, target, options) => send(baseUrl, method, target, options),
    call: (method, path, value) =>
      request(method, path, {
        token: validToken(),
        ...(value === undefined ? {} : { body: JSON.stringify(value) }),
      }),
    mint,
    validToken,
  }
}
