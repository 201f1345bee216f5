/** An engine that is one server. @module */

import { type Connection, openConnection, type Server } from './connection.js'
import type { Engine, EngineOptions } from './engine.js'
import { type Purpose, storeError } from './failures.js'
import { newServerReporter } from './report.js'

/** @returns once the first attempt to connect has succeeded or failed; there will be others. */
export async function openSingle({ url, timeout, log }: EngineOptions): Promise<Engine> {
  const report = newServerReporter(log, () => server.send(['INFO', 'memory']))
  const server: Connection = openConnection({ url, isOfCluster: false, timeout, report })
  await server.tried

  async function use<T>(purpose: Purpose, call: (server: Server) => Promise<T>): Promise<T> {
    try {
      return await call(server)
    } catch (error) {
      throw storeError(error, purpose)
    }
  }

  return {
    at: (purpose, _key, call) => use(purpose, call),
    all: async (purpose, call) => [await use(purpose, call)],
    isConnected: () => server.session() !== undefined,
    close: server.close,
  }
}
