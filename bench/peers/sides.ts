/** The sides of the comparison: this service and other implementations. */

import type { Headers } from '../lib/client.js'
import type { Child } from '../lib/processes.js'
import bare from './bare.js'
import fastapi from './fastapi.js'
import itemStore, { itemStoreOnRedis } from './item-store.js'

/** Parameters for starting a side. */
export interface StartOptions {
  port: number // on 127.0.0.1
  secret: string // key that signs tokens
  list: number // number of items that a list returns, 0 without a list
  settings?: Record<string, string> // settings of this service that differ from the defaults
}

export interface Side {
  name: string
  about: string
  skips?: string[] // names of the workloads that this side does not take part in
  version?: () => string | undefined // `undefined` if the side is not installed
  start: (options: StartOptions) => Promise<Child[]> // returns its programs, the server first
  create: (
    server: { port: number; headers: Headers },
    count: number,
    seconds: number,
  ) => Promise<string[]> // creates as many items as fit into the time, and returns their ids
}

export const sides: Side[] = [itemStore, itemStoreOnRedis, bare, fastapi]
