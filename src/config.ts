/**
 * The settings: environment and flags in, a checked `Config` out.
 *
 * The table below is the only one. Names, validation, `--help` and the docs come from it.
 * `JWT_SECRET` and `JWT_ALGORITHM` are no settings in this sense: they are read at each
 * verification (spec §5.5) and nowhere else.
 *
 * @module
 */

import { totalmem } from 'node:os'
import type { ParseArgsConfig } from 'node:util'
import { getHeapStatistics } from 'node:v8'

interface Setting<T> {
  /** Name in the environment; the flag is the same in lower case with dashes. */
  readonly name: string
  readonly default: T
  readonly meaning: string
  /** @throws {Error} that says what is expected. */
  readonly parse: (text: string) => T
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
const kibibyte = 1024
const mebibyte = 1024 * kibibyte

export const settings = {
  port: {
    name: 'PORT',
    default: 8000,
    meaning: 'TCP port to listen on; 0 takes a free one',
    parse: integer(0, 65_535),
  },
  host: {
    name: 'HOST',
    default: '0.0.0.0',
    meaning: 'Address to listen on; 127.0.0.1 for this machine only',
    parse: text,
  },
  serviceName: {
    name: 'SERVICE_NAME',
    default: 'item-store',
    meaning: 'service_name in the health response',
    parse: text,
  },
  logLevel: {
    name: 'LOG_LEVEL',
    default: 'info',
    meaning: `Least level to log: ${levels.join(', ')}`,
    parse: oneOf(levels),
  },
  maxBodyBytes: {
    name: 'MAX_BODY_BYTES',
    default: 16 * mebibyte,
    meaning: 'Longest request body in bytes',
    parse: integer(1, 128 * mebibyte), // the check of a longer one, all tiny members, may take minutes
  },
  maxPendingBytes: {
    name: 'MAX_PENDING_BYTES',
    default: Math.max(partOfMemory(0.1), 16 * mebibyte),
    meaning:
      'Most bytes of bodies whose requests are not answered yet, at least MAX_BODY_BYTES; what is more gets 503; 1/10 of the memory by default',
    parse: integer(1, Number.MAX_SAFE_INTEGER),
  },
  maxStoreBytes: {
    name: 'MAX_STORE_BYTES',
    default: partOfMemory(0.5),
    meaning:
      'Most bytes that the items may take, less than MAX_MEMORY_BYTES; half of the memory by default',
    parse: integer(1, Number.MAX_SAFE_INTEGER),
  },
  maxStorePages: {
    name: 'MAX_STORE_PAGES',
    default: partOfHeap(2 * kibibyte),
    meaning:
      'Maximum number of pages that the items may lie on; one for each 2 KiB of the JavaScript heap by default',
    parse: integer(1, 1_000_000_000),
  },
  maxHeaderBytes: {
    name: 'MAX_HEADER_BYTES',
    default: 16 * kibibyte,
    meaning: 'Longest head of a request in bytes',
    parse: integer(1024, mebibyte),
  },
  maxHeaderLines: {
    name: 'MAX_HEADER_LINES',
    default: 128,
    meaning: 'Most header lines of a request',
    parse: integer(1, 100_000),
  },
  maxConnections: {
    name: 'MAX_CONNECTIONS',
    default: Math.min(10_000, partOfHeap(64 * kibibyte)),
    meaning: 'Most connections at a time; more are closed at once; less by default in a small heap',
    parse: integer(1, 1_000_000),
  },
  maxWaitingRequests: {
    name: 'MAX_WAITING_REQUESTS',
    default: 10_000,
    meaning:
      'Most requests, on all connections, that wait for one sent before them on theirs; beyond it the connection with the most of them is closed',
    parse: integer(1, 1_000_000),
  },
  requestTimeout: {
    name: 'REQUEST_TIMEOUT',
    default: 60,
    meaning: 'Longest time in seconds for a whole request to arrive',
    parse: integer(1, 86_400),
  },
  keepAliveTimeout: {
    name: 'KEEP_ALIVE_TIMEOUT',
    default: 72,
    meaning: 'Longest time in seconds that a connection may wait for its next request',
    parse: integer(1, 86_400),
  },
  idleTimeout: {
    name: 'IDLE_TIMEOUT',
    default: 90,
    meaning: 'Longest time in seconds that a client may read nothing of what is sent to it',
    parse: integer(1, 86_400),
  },
  maxEventLoopDelay: {
    name: 'MAX_EVENT_LOOP_DELAY',
    default: 500,
    meaning: 'Delay of the event loop in milliseconds above which item requests get 503',
    parse: integer(1, 60_000),
  },
  maxMemoryBytes: {
    name: 'MAX_MEMORY_BYTES',
    default: partOfMemory(0.9),
    meaning: 'Memory of the process in bytes above which item requests get 503; 9/10 by default',
    parse: integer(1, Number.MAX_SAFE_INTEGER),
  },
  metricsPort: {
    name: 'METRICS_PORT',
    default: undefined,
    meaning: 'TCP port for Prometheus metrics at /metrics, on the same address; unset: none',
    parse: integer(1, 65_535),
  },
  shutdownTimeout: {
    name: 'SHUTDOWN_TIMEOUT',
    default: 10,
    meaning: 'Longest time in seconds for requests to finish when the service is told to stop',
    parse: integer(1, 86_400),
  },
} as const satisfies Record<string, Setting<number> | Setting<string> | Setting<number | undefined>>

type Settings = typeof settings

/** All settings, checked. */
export type Config = {
  readonly [Key in keyof Settings]: ReturnType<Settings[Key]['parse']> | Settings[Key]['default']
}

/** Settings that cannot be used: one line for each fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The flags of all settings, for `parseArgs` of `node:util`. */
export const flags: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
  Object.values(settings).map(({ name }) => [flagOf(name), { type: 'string' }] as const),
)

/**
 * Reads all settings; a flag wins over the environment, an empty variable counts as unset.
 * @param given values of flags, by flag name.
 * @throws {ConfigError} that names every fault.
 */
export function readConfig(given: Record<string, unknown>, env: NodeJS.ProcessEnv): Config {
  const faults: string[] = []
  const entries = Object.entries(settings).map(([key, setting]) => {
    const flag = given[flagOf(setting.name)]
    const value = typeof flag === 'string' ? flag : env[setting.name] || undefined
    if (value === undefined) return [key, setting.default]
    try {
      return [key, setting.parse(value)]
    } catch (error) {
      const source = typeof flag === 'string' ? `--${flagOf(setting.name)}` : setting.name
      const expected = error instanceof Error ? error.message : String(error)
      faults.push(`${source} is ${JSON.stringify(value)}; expected ${expected}`)
      return [key, setting.default]
    }
  })
  const config = Object.fromEntries(entries) as Config // one entry for each key of the table
  if (faults.length === 0) faults.push(...contradictions(config))
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return config
}

/** Settings that are fine alone and not together: one line for each fault. */
function contradictions(config: Config): string[] {
  const { port, metricsPort, maxBodyBytes, maxPendingBytes, maxStoreBytes, maxMemoryBytes } = config
  const faults: string[] = []
  if (metricsPort === port) faults.push(`METRICS_PORT is ${port}; expected another than PORT`)
  if (maxPendingBytes < maxBodyBytes) {
    faults.push(
      `MAX_PENDING_BYTES is ${maxPendingBytes}; expected at least MAX_BODY_BYTES, which is ${maxBodyBytes}`,
    )
  }
  if (maxStoreBytes >= maxMemoryBytes) {
    // A full store would have all requests refused, those that make room included.
    faults.push(
      `MAX_STORE_BYTES is ${maxStoreBytes}; expected less than MAX_MEMORY_BYTES, which is ${maxMemoryBytes}`,
    )
  }
  return faults
}

/** The lines of `--help` on the settings. */
export function describeSettings(): string {
  return Object.values(settings)
    .map(({ name, default: value, meaning }) => {
      const flag = `--${flagOf(name)}`
      return `  ${flag.padEnd(23)} ${name.padEnd(20)} ${meaning} [${value ?? 'off'}]`
    })
    .join('\n')
}

function flagOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

function text(value: string): string {
  if (value === '') throw new Error('some text')
  return value
}

function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max) {
      throw new Error(`a whole number from ${min} to ${max}`)
    }
    return number
  }
}

function oneOf(choices: readonly string[]): (value: string) => string {
  return (value) => {
    if (!choices.includes(value)) throw new Error(`one of ${choices.join(', ')}`)
    return value
  }
}

/** How often some bytes fit in the JavaScript heap at its largest. */
function partOfHeap(bytes: number): number {
  return Math.floor(getHeapStatistics().heap_size_limit / bytes)
}

/** Of what the process may use: its control group's memory where that is limited, else all. */
function partOfMemory(part: number): number {
  const limit = process.constrainedMemory()
  return Math.floor((limit > 0 ? Math.min(limit, totalmem()) : totalmem()) * part)
}
