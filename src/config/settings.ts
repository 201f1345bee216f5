/**
 * The settings of the service, and fixed limits that nobody needs to change. Names, validation, `--help` and the
 * documentation all come from the one table of settings. `JWT_SECRET` and `JWT_ALGORITHM` are not in this table: they
 * are read only at each verification of a token (spec §5.5).
 *
 * @module
 */

import type { ParseArgsConfig } from 'node:util'
import { fractionOfMemory, kibibyte, mebibyte, timesInHeap } from '../memory/shares.js'
import {
  integer,
  type Kind,
  keyPrefix,
  networks,
  oneOf,
  onOrOff,
  optional,
  orOff,
  powerOfTwo,
  serverUrl,
  size,
  text,
  time,
} from './kinds.js'

export interface Setting<T> extends Omit<Kind<T>, 'format'> {
  /** Name of the environment variable. The flag is the same name in lower case with dashes. */
  readonly name: string
  readonly default: T
  /** The default as a user would type it; `undefined` if it depends on another setting or is unset. */
  readonly defaultText: string | undefined
  readonly meaning: string
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
const day = 86_400 // in seconds

export const settings = {
  port: setting('PORT', integer(0, 65_535), 8000, 'TCP port to listen on; 0 picks a free one'),
  host: setting(
    'HOST',
    text,
    '0.0.0.0',
    'Address to listen on; the default of dev, 127.0.0.1, is for this machine only',
  ),
  serviceName: setting('SERVICE_NAME', text, 'item-store', 'service_name in the health response'),
  logLevel: setting('LOG_LEVEL', oneOf(levels), 'info', `Minimum log level: ${levels.join(', ')}`),
  docs: setting(
    'DOCS',
    onOrOff,
    true,
    'API page at /docs, with /openapi.json, and the documentation at /llms.txt: on or off',
  ),
  console: setting(
    'CONSOLE',
    onOrOff,
    false,
    'Items page at /: on or off; on by default in dev only',
  ),
  maxBodyBytes: setting(
    'MAX_BODY_BYTES',
    size(1, 128 * mebibyte), // a larger body of tiny members may take minutes to check
    16 * mebibyte,
    'Maximum size of a request body',
  ),
  maxStoreBytes: setting(
    'MAX_STORE_BYTES',
    size(1),
    fractionOfMemory(0.5),
    'Maximum total size of all items, less than MAX_MEMORY_BYTES; half of memory by default',
  ),
  storeUrl: setting(
    'STORE_URL',
    optional(serverUrl),
    undefined,
    'Redis or Valkey server or cluster that keeps the items: redis://, rediss://, redis+unix://, redis+cluster://, rediss+cluster://, redis+sentinel:// or rediss+sentinel://; process memory by default',
  ),
  storePrefix: setting(
    'STORE_PREFIX',
    keyPrefix,
    'item-store:',
    'Prefix of the keys on the server of STORE_URL; services with the same prefix share their items',
  ),
  storeBuckets: setting(
    'STORE_BUCKETS',
    powerOfTwo(256, 16_384), // a cluster has 16,384 slots
    256,
    'Number of hashes that hold the items on the server of STORE_URL, fixed by the first item; more for large clusters',
  ),
  storeTimeout: setting(
    'STORE_TIMEOUT',
    time('ms', 10, 60_000),
    2000,
    'Maximum time to wait for a reply from the server of STORE_URL before the request gets 503',
  ),
  maxConnections: setting(
    'MAX_CONNECTIONS',
    integer(1, 1_000_000),
    Math.min(10_000, timesInHeap(64 * kibibyte)),
    'Maximum number of open connections, lower by default in a small heap; more are closed at once',
  ),
  requestTimeout: setting(
    'REQUEST_TIMEOUT',
    time('s', 1, day),
    60,
    'Maximum time for a complete request to arrive',
  ),
  keepAliveTimeout: setting(
    'KEEP_ALIVE_TIMEOUT',
    time('s', 1, day),
    72,
    'Maximum time that a connection may be idle between requests',
  ),
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    optional(networks),
    undefined,
    'Proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted; none by default',
  ),
  maxMemoryBytes: setting(
    'MAX_MEMORY_BYTES',
    size(1),
    fractionOfMemory(0.9),
    'Resident memory above which item requests other than deletes get 503; 9/10 of memory by default',
  ),
  metricsPort: setting(
    'METRICS_PORT',
    orOff(integer(1, 65_535)),
    undefined,
    'TCP port to serve Prometheus metrics on, at /metrics; or off',
  ),
  metricsHost: setting(
    'METRICS_HOST',
    optional(text),
    undefined,
    'Address to serve metrics on; the value of HOST by default',
  ),
  shutdownTimeout: setting(
    'SHUTDOWN_TIMEOUT',
    time('s', 1, day),
    10,
    'Maximum time for accepted requests to finish when the service stops',
  ),
}

type Settings = typeof settings

export type SettingValues = { readonly [Key in keyof Settings]: Settings[Key]['default'] }

/**
 * All settings, checked, and the limits that follow from them. Sizes are in bytes, times of the store and of the event
 * loop in milliseconds, other times in seconds.
 */
export interface Config extends SettingValues, Limits {
  readonly metricsHost: string
}

/** Flags of all settings, for `parseArgs` of `node:util`. */
export const flags: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
  Object.values(settings).map(({ name }) => [flagOf(name), { type: 'string' }] as const),
)

/** Returns the flag of a setting, without the leading dashes. */
export function flagOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

function setting<T>(
  name: string,
  { format, ...kind }: Kind<T>,
  defaultValue: T,
  meaning: string,
): Setting<T> {
  return { ...kind, name, default: defaultValue, defaultText: format(defaultValue), meaning }
}

/** Limits that are not settings. Parts of the service take them as options. Units are as in `Config`. */
export type Limits = Readonly<ReturnType<typeof limitsFor>>

/** Returns the limits that follow from the settings. */
export function limitsFor({
  maxBodyBytes,
  maxMemoryBytes,
}: Pick<SettingValues, 'maxBodyBytes' | 'maxMemoryBytes'>) {
  const memory = Math.min(maxMemoryBytes, fractionOfMemory(1))
  return {
    /**
     * Maximum memory for the bodies of unanswered requests; above it, requests get 503. By default, half of the memory
     * is for items, and garbage takes a share too. One body always fits.
     */
    maxPendingBytes: Math.max(Math.floor(memory / 10), maxBodyBytes),
    /**
     * Maximum number of blocks of the store in process memory; above it, creates get 507. A block takes less than 2 KiB
     * of the heap; its bytes are outside the heap. Operators limit bytes with MAX_STORE_BYTES; this limit only keeps a
     * small heap from overflowing.
     */
    maxStoreBlocks: timesInHeap(2 * kibibyte),
    /** Maximum size of a request head; a longer head gets 431. This is the default of Node.js. */
    maxHeaderBytes: 16 * kibibyte,
    /** Maximum number of header lines in a request; above it, the request gets 431. Apache allows 100. */
    maxHeaderLines: 128,
    /**
     * Maximum memory for pipelined requests that wait for an earlier one, on all connections together. Above it, the
     * connections that hold the most are closed. A connection holds 16 short requests and 64 KiB more, so 300 clients
     * can pipeline without reading.
     */
    maxPipelinedBytes: Math.min(Math.floor(memory / 20), 32 * mebibyte),
    /**
     * Maximum memory for lists that waiting reads share; above it, each read gets its own list, one after the other.
     * Used only with items on a server, when this process keeps no items and has memory to spare.
     */
    maxSharedListBytes: Math.min(Math.floor(memory / 20), 64 * mebibyte),
    /**
     * Maximum mean event loop delay within a second, in milliseconds; above it, item requests other than deletes get
     * 503. Instead of waiting longer, the client should repeat the request after a second, as Retry-After says.
     */
    maxEventLoopDelay: 500,
    /**
     * Maximum time in which a client reads nothing of its response; after it, the connection is closed. nginx waits 60
     * s for its clients by default. This limit is longer, so that nginx closes slow connections first.
     */
    idleTimeout: 90,
  }
}
