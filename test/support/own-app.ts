/** Starts the service in the test's own process, so that the test can replace parts of it. */

import { after } from 'node:test'
import { pino } from 'pino'
import { environmentSigning } from '../../src/auth/secret.js'
import { readConfig } from '../../src/config/read-config.js'
import type { Config } from '../../src/config/settings.js'
import { createService, type ServiceParts } from '../../src/service.js'
import { createMemoryStore } from '../../src/store/memory/store.js'
import { serviceAt } from '../conformance/client.js'

export type LogLine = Readonly<Record<string, unknown>>

export type OwnApp = Awaited<ReturnType<typeof ownApp>>

export function defaultParts(): ServiceParts {
  return {
    store: createMemoryStore(100_000),
    log: pino({ level: 'silent' }),
    signing: environmentSigning,
    requestLogLevel: 'debug',
    load: { limits: [], exceededLimit: () => undefined },
    doubles: undefined,
  }
}

/** Starts the service for one test, and sets the `JWT_SECRET` of this process to its secret. */
export async function ownApp(parts: Partial<ServiceParts> = {}, options: Partial<Config> = {}) {
  const secret = 'a secret of at least thirty-two bytes'
  process.env.JWT_SECRET = secret
  delete process.env.JWT_ALGORITHM
  const log: LogLine[] = []
  const write = (line: string) => log.push(JSON.parse(line))
  const service = createService(
    { ...readConfig({}, {}), host: '127.0.0.1', port: 0, shutdownTimeout: 0, ...options },
    { ...defaultParts(), log: pino({ level: 'error', base: null }, { write }), ...parts },
  )
  after(() => service.stop(0))
  const url = await service.listen()
  const { waitingReads } = service
  return { ...serviceAt(new URL(`${url}/api/v1`), secret), log, waitingReads }
}
