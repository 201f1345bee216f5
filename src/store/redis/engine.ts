/** What keeps the items: one server, or the servers of a cluster. @module */

import type { Logger } from 'pino'
import type { Server } from './connection.js'
import type { Purpose } from './failures.js'

export interface EngineOptions {
  /** As in `STORE_URL`. */
  readonly url: string
  /** Maximum time to wait for an answer, in milliseconds. */
  readonly timeout: number
  /** Is told when a server can be reached and when not. */
  readonly log: Logger
}

/** Calls fail with a `StoreError` after a bounded time, whatever happens. */
export interface Engine {
  /** Calls with the server that has this key; again with another one, where the key has moved to it. */
  at<T>(purpose: Purpose, key: string, call: (server: Server) => Promise<T>): Promise<T>
  /** Calls with each server that items can be on. */
  all<T>(purpose: Purpose, call: (server: Server) => Promise<T>): Promise<T[]>
  /** Whether there is a connection to each of them. */
  isConnected(): boolean
  close(): void
}
