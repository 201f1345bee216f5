/** The line of the log that says what has started. @module */

import type { Logger } from 'pino'
import type { Config } from '../config/settings.js'
import { withoutCredentials } from '../store/redis/address.js'
import { readVersion } from './version.js'

/** @param url where the service can be reached from this machine. */
export function logStart(log: Logger, config: Config, url: string): void {
  const { storeUrl, maxStoreBytes, maxMemoryBytes, maxBodyBytes, maxConnections } = config
  const store =
    storeUrl === undefined
      ? { store: 'process memory', max_store_bytes: maxStoreBytes }
      : { store: withoutCredentials(storeUrl) }
  const limits = {
    max_memory_bytes: maxMemoryBytes,
    max_body_bytes: maxBodyBytes,
    max_connections: maxConnections,
  }
  log.info({ version: readVersion(), url, ...store, ...limits }, `listening on ${url}`)
}
