/** An engine that is one server. @module */

import { type Connection, memoryInfo, openConnection } from './connection.js'
import type { Engine, EngineOptions } from './engine.js'
import { answerOf } from './failures.js'
import { newServerReporter } from './report.js'

/** @returns once the first attempt to connect has succeeded or failed; there will be others. */
export async function openSingle({ url, timeout, log }: EngineOptions): Promise<Engine> {
  const report = newServerReporter(log, () => memoryInfo(server, 'maxmemory_policy'))
  const server: Connection = openConnection({ url, isOfCluster: false, timeout, report })
  await server.tried

  return {
    at: (purpose, _key, call) => answerOf(call(server), purpose),
    all: async (purpose, call) => [await answerOf(call(server), purpose)],
    isConnected: () => server.session() !== undefined,
    close: server.close,
  }
}
