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

interface Setting<T> {
  /** Name in the environment; the flag is the same in lower case with dashes. */
  readonly name: string
  readonly default: T
  readonly meaning: string
  /** @throws {Error} that says what is expected. */
  readonly parse: (text: string) => T
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
const mebibyte = 1024 * 1024

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
    parse: integer(1, 512 * mebibyte), // a longer text fits in no string of Node's
  },
  maxStoreBytes: {
    name: 'MAX_STORE_BYTES',
    default: halfOfMemory(),
    meaning: 'Most bytes that the items may take; by default half of the memory there is',
    parse: integer(1, Number.MAX_SAFE_INTEGER),
  },
  requestTimeout: {
    name: 'REQUEST_TIMEOUT',
    default: 60,
    meaning: 'Longest time in seconds for a whole request to arrive',
    parse: integer(1, 86_400),
  },
  shutdownTimeout: {
    name: 'SHUTDOWN_TIMEOUT',
    default: 10,
    meaning: 'Longest time in seconds for requests to finish when the service is told to stop',
    parse: integer(0, 86_400),
  },
} as const satisfies Record<string, Setting<number> | Setting<string>>

type Settings = typeof settings

/** All settings, checked. */
export type Config = { readonly [Key in keyof Settings]: ReturnType<Settings[Key]['parse']> }

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
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return Object.fromEntries(entries) as Config // one entry for each key of the table
}

/** The lines of `--help` on the settings. */
export function describeSettings(): string {
  return Object.values(settings)
    .map(({ name, default: value, meaning }) => {
      const flag = `--${flagOf(name)}`
      return `  ${flag.padEnd(20)} ${name.padEnd(17)} ${meaning} [${value}]`
    })
    .join('\n')
}

function flagOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

function text(value: string): string {
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

/** Half of what the process may use: of its control group where that is limited, else all memory. */
function halfOfMemory(): number {
  const limit = process.constrainedMemory()
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  return Math.floor(memory / 2)
}
