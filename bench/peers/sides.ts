/** The sides of the comparison: this service, and other ways to do the same. */

import type { Headers } from '../lib/client.js'
import type { Child } from '../lib/processes.js'
import bare from './bare.js'
import fastapi from './fastapi.js'
import itemStore, { itemStoreOnRedis } from './item-store.js'

/** What a side starts with. */
export interface StartOptions {
  port: number // of 127.0.0.1
  secret: string // which signs tokens
  list: number // of items that a list returns, 0 if nobody asks for one
  settings?: Record<string, string> // of this service, besides the defaults
}

export interface Side {
  name: string
  about: string
  skips?: string[] // names of workloads that it is not measured with
  version?: () => string | undefined // `undefined` when it is not installed
  start: (options: StartOptions) => Promise<Child[]> // its programs, the server first
  create: (
    server: { port: number; headers: Headers },
    count: number,
    seconds: number,
  ) => Promise<string[]> // creates as many items as fit into the time, and returns their ids
}

export const sides: Side[] = [itemStore, itemStoreOnRedis, bare, fastapi]
