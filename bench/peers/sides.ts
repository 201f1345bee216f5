/** The sides of the comparison: this service and other implementations. */

import type { Headers } from '../lib/client.js'
import type { Child } from '../lib/processes.js'
import bare from './bare.js'
import fastapi from './fastapi.js'
import itemStore, { itemStoreOnRedis } from './item-store.js'

export interface StartOptions {
  port: number // on 127.0.0.1
  secret: string // key that signs tokens
  list: number // number of items that a list returns; 0 if the workload has no list
  settings?: Record<string, string> // settings of this service that differ from the defaults
}

export interface Side {
  name: string
  about: string
  skips?: string[] // names of workloads in which this side is not measured
  version?: () => string | undefined // `undefined` if the side is not installed
  start: (options: StartOptions) => Promise<Child[]> // returns the side's programs, the server first
  create: (
    server: { port: number; headers: Headers },
    count: number,
    seconds: number,
  ) => Promise<string[]> // creates items until there are `count` of them or the time is over, and returns their ids
}

export const sides: Side[] = [itemStore, itemStoreOnRedis, bare, fastapi]

export function isAvailable({ version }: Side) {
  return version === undefined || version() !== undefined
}

export function describeSide({ name, about, version }: Side) {
  if (version === undefined) return `- ${name}: ${about}`
  const installed = version()
  if (installed === undefined) return `- ${name}: left out because it is not installed`
  return `- ${name}: ${about} (${installed})`
}
