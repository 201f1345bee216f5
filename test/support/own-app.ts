/** The app in this process, with parts of the test's own. */

import { after } from 'node:test'
import { pino } from 'pino'
import { type AppOptions, type AppParts, createApp } from '../../src/app.js'
import { readConfig } from '../../src/config/read-config.js'
import { createMemoryStore } from '../../src/store/memory/store.js'
import { type Service, serviceAt } from '../conformance/client.js'

export type LogLine = Readonly<Record<string, unknown>>

export interface OwnApp extends Service {
  /** The errors that it has logged so far. */
  readonly log: readonly LogLine[]
}

/** Starts it; it ends with the test. Its secret is that of the environment from now on. */
export async function ownApp(
  parts: Partial<AppParts> = {},
  options: Partial<AppOptions> = {},
): Promise<OwnApp> {
  const secret = 'a secret of at least thirty-two bytes'
  process.env.JWT_SECRET = secret
  delete process.env.JWT_ALGORITHM
  const log: LogLine[] = []
  const write = (line: string) => log.push(JSON.parse(line))
  const app = createApp(
    { ...readConfig({}, {}), version: '1.2.3', ...options },
    {
      store: createMemoryStore(100_000),
      log: pino({ level: 'error', base: null }, { write }),
      ...parts,
    },
  )
  after(() => app.stop({ timeout: 0 }))
  const port = await app.listen(0, '127.0.0.1')
  return { ...serviceAt(new URL(`http://127.0.0.1:${port}/api/v1`), secret), log }
}
