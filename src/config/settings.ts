/** The service's settings and fixed limits. The token secret is read elsewhere (spec §5.5). @module */

import type { ParseArgsConfig } from 'node:util'
import { fractionOfMemory, kibibyte, mebibyte, timesInHeap } from '../memory/shares.js'
import * as kind from './kinds.js'

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
const day = 86_400 // in seconds

/** Settings by their key in `Config`. The environment variable of `maxBodyBytes` is `MAX_BODY_BYTES`. */
export const settings = {
  port: setting(kind.integer(0, 65_535), '8000', 'TCP port to listen on; 0 picks a free one'),
  host: setting(
    kind.text,
    '0.0.0.0',
    'Address to listen on; in dev by default 127.0.0.1, which only this machine can reach',
  ),
  serviceName: setting(kind.text, 'item-store', 'service_name in the health response'),
  logLevel: setting(kind.oneOf(levels), 'info', `Minimum log level: ${levels.join(', ')}`),
  docs: setting(
    kind.onOrOff,
    'on',
    'API page at /docs, with /openapi.json, and the documentation at /llms.txt: on or off',
  ),
  console: setting(kind.onOrOff, 'off', 'Items page at /: on or off; on by default in dev only'),
  mcp: setting(
    kind.onOrOff,
    'off',
    'Tools for agents at /mcp (Model Context Protocol): on or off; on by default in dev only',
  ),
  maxBodyBytes: setting(
    kind.size(1, 128 * mebibyte), // a larger body of tiny members may take minutes to check
    '16MiB',
    'Maximum size of a request body, up to 128MiB',
  ),
  maxStoreBytes: withoutDefault(
    kind.size(1),
    'Maximum total size of all items, less than MAX_MEMORY_BYTES; half of memory by default, or of MAX_MEMORY_BYTES if that is lower',
  ),
  storeUrl: setting(
    kind.storeUrl,
    'memory',
    'Where the items are kept: memory, or the URL of a Redis or Valkey server or cluster: redis://, rediss://, redis+unix://, redis+cluster://, rediss+cluster://, redis+sentinel:// or rediss+sentinel://',
  ),
  storePrefix: setting(
    kind.keyPrefix,
    'item-store:',
    'Prefix of the keys on the STORE_URL server; services with the same prefix share their items',
  ),
  storeBuckets: setting(
    kind.oneOf([256, 512, 1024, 2048, 4096, 8192, 16_384]), // a cluster has 16,384 slots
    '256',
    'Number of hashes that hold the items on the STORE_URL server, a power of two from 256 to 16384, or to 4096 in a cluster; it cannot change once there are items',
  ),
  storeTimeout: setting(
    kind.time('ms', 10, 60_000),
    '2000ms',
    'Maximum time to wait for a reply from the STORE_URL server before the request gets 503',
  ),
  maxConnections: setting(
    kind.integer(1, 1_000_000),
    String(Math.min(10_000, timesInHeap(64 * kibibyte))),
    'Maximum number of open connections, lower by default in a small heap; further ones are closed at once',
  ),
  requestTimeout: setting(
    kind.time('s', 1, day),
    '60s',
    'Maximum time for a complete request to arrive',
  ),
  keepAliveTimeout: setting(
    kind.time('s', 1, day),
    '72s',
    'Maximum time that a connection may be idle between requests',
  ),
  trustedProxies: withoutDefault(
    kind.networks,
    'Proxies whose X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Prefix are trusted, as addresses or networks, such as 127.0.0.1,10.0.0.0/8; none by default',
  ),
  maxMemoryBytes: setting(
    kind.size(1),
    kind.formatSize(fractionOfMemory(0.9)),
    'Resident memory above which all requests except health checks and deletes get 503; 9/10 of memory by default',
  ),
  metricsPort: setting(
    kind.orOff(kind.integer(1, 65_535)),
    'off',
    'TCP port to serve Prometheus metrics on, at /metrics; or off',
  ),
  metricsHost: withoutDefault(
    kind.text,
    'Address to serve metrics on; the value of HOST by default',
  ),
  shutdownTimeout: setting(
    kind.time('s', 1, day),
    '10s',
    'Maximum time for accepted requests to finish when the service stops',
  ),
}

export type SettingValues = {
  readonly [Key in keyof typeof settings]: (typeof settings)[Key]['default']
}

/** All settings and limits. Sizes are in bytes, store timeouts and event loop delays in ms, other times in seconds. */
export interface Config extends SettingValues, Limits {
  readonly metricsHost: string
  readonly maxStoreBytes: number
}

export const settingNames = Object.keys(settings).map(nameOf)

export const flags: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
  settingNames.map((name) => [flagOf(name), { type: 'string' }] as const),
)

export function nameOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, '_$&').toUpperCase()
}

export function flagOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

function setting<T>(kind: kind.Kind<T>, defaultText: string, meaning: string) {
  const value = kind.parse(defaultText)
  if (value === null) throw new Error(`${defaultText} is not ${kind.expected}`)
  return { ...kind, default: value, defaultText, meaning }
}

function withoutDefault<T>(kind: kind.Kind<T>, meaning: string) {
  const none = undefined as T | undefined // a declared type would be narrowed to `undefined`
  return { ...kind, default: none, defaultText: undefined, meaning }
}

export type Limits = Readonly<ReturnType<typeof limitsFor>>

const smallestBlock = 32 * kibibyte // in bytes

export function limitsFor({ maxBodyBytes, maxMemoryBytes, storeUrl }: SettingValues) {
  const maxStoreBlocks = timesInHeap(2 * kibibyte)
  const memory = Math.min(maxMemoryBytes, fractionOfMemory(1))
  return {
    /** Maximum memory for bodies of unanswered requests, in bytes, partly in the heap. Above it, requests get 503. */
    maxPendingBytes: Math.max(Math.min(Math.floor(memory / 10), timesInHeap(2)), maxBodyBytes),
    /** Maximum number of blocks in an in-memory store. Beyond it, creates get a 507. */
    maxStoreBlocks,
    /** Maximum length of a request head in bytes, the default of Node.js. A longer one gets 431. */
    maxHeaderBytes: 16 * kibibyte,
    /** Maximum number of header lines; Apache allows 100. More get a 431. */
    maxHeaderLines: 128,
    /** Maximum size of waiting pipelined requests and unfinished heads, in bytes. Above it, connections are closed. */
    maxPipelinedBytes: Math.min(Math.floor(memory / 20), 32 * mebibyte),
    /** Maximum size of a shared list, in bytes. Above it, each response reads its own. 16 are read at once. */
    maxSharedListBytes: Math.min(Math.floor(memory / 320), 4 * mebibyte),
    /** Maximum memory for clients that read slowly, in bytes. Above it, the one that needs the most is disconnected. */
    maxReaderBytes: Math.min(
      Math.max(Math.floor(memory / (storeUrl === undefined ? 8 : 4)), maxBodyBytes + mebibyte),
      maxStoreBlocks * smallestBlock, // so that blocks that are kept for readers fit in the heap too
    ),
    /** Maximum mean delay of the event loop, in ms. Above it, requests except deletes and health checks get 503. */
    maxEventLoopDelay: 500,
    /** How long a client may leave a response unread, in seconds. nginx allows 60 s by default. */
    idleTimeout: 90,
  }
}
