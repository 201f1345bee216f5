/** Parses and formats values of settings, for example `16MB`, `512MiB` and `90s`. @module */

import { BlockList, isIP } from 'node:net'
import { clusterAddress, sentinelAddress } from '../store/redis/address.js'
import { messageOf, UsageError } from './usage-error.js'

export interface Kind<T> {
  /** @throws {Error} with a description of the expected text. */
  readonly parse: (text: string) => T
  /** Returns `undefined` for a value that a user cannot type. */
  readonly format: (value: T) => string | undefined
  /** Values that may contain a password are never printed. */
  readonly isSecret?: boolean
}

const tcpUrl = /^rediss?:\/\/(?:[^@/?#:]*:[^@/?#]+@)?(?!.*:0+(?:\/|$))[^@/?#,]+(?:\/\d*)?$/
const socketUrl = /^redis\+unix:\/\/(?:[^@/:]*:[^@/]+@)?\/[^?#]+(?:\?db=\d+)?$/
const urlForms = [
  'redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]',
  'the same with rediss:// for TLS',
  'redis+unix://[[USER]:PASSWORD@]/PATH[?db=DATABASE]',
  'for sentinels redis+sentinel:// or rediss+sentinel:// and [[USER]:PASSWORD@]HOST[:PORT][,HOST[:PORT]]/NAME[/DATABASE]',
  'or for a cluster redis+cluster:// or rediss+cluster:// and [[USER]:PASSWORD@]HOST[:PORT][,HOST[:PORT]]',
]

export const text: Kind<string> = textOf((value) => value !== '', 'text that is not empty')

/** Braces have a special meaning in the keys of a Redis cluster. */
export const keyPrefix: Kind<string> = textOf(
  (value) => /^[^{}]+$/.test(value),
  'text without braces',
)

export function oneOf(choices: readonly string[]): Kind<string> {
  return textOf((value) => choices.includes(value), `one of ${choices.join(', ')}`)
}

/** @param expected description of valid text, for the error message. */
function textOf(isValid: (text: string) => boolean, expected: string): Kind<string> {
  return {
    parse(value) {
      if (isValid(value)) return value
      throw new Error(expected)
    },
    format: String,
  }
}

export function integer(min: number, max: number): Kind<number> {
  const parse = (value: string) => (/^\d+$/.test(value) ? Number(value) : undefined)
  return between(min, max, { parse, format: String, what: 'a whole number' })
}

export function powerOfTwo(min: number, max: number): Kind<number> {
  const choices: string[] = []
  for (let number = min; number <= max; number *= 2) choices.push(String(number))
  return { parse: (text) => Number(oneOf(choices).parse(text)), format: String }
}

export function size(min: number, max = 1024 ** 5): Kind<number> {
  const units = ', in bytes or with a unit such as kB, MB or MiB'
  return between(min, max, { parse: parseSize, format: formatSize, what: 'a size', units })
}

/** A time in whole seconds or milliseconds. A number without a unit is in `unit`. */
export function time(unit: 's' | 'ms', min: number, max: number): Kind<number> {
  return between(min, max, {
    parse: (value) => (parseDuration(value, unit) ?? Number.NaN) / durations[unit],
    format: (value) => `${value}${unit}`,
    what: 'a time',
    units: ', with a unit such as ms, s or m',
  })
}

interface NumberFormat {
  readonly parse: (text: string) => number | undefined
  readonly format: (value: number) => string
  /** Text before the range in an error message, such as `a size`. */
  readonly what: string
  readonly units?: string
}

function between(
  min: number,
  max: number,
  { parse, format, what, units = '' }: NumberFormat,
): Kind<number> {
  return {
    parse(text) {
      const number = parse(text) ?? Number.NaN
      if (Number.isInteger(number) && number >= min && number <= max) return number
      throw new Error(`${what} from ${format(min)} to ${format(max)}${units}`)
    },
    format,
  }
}

export const onOrOff: Kind<boolean> = {
  parse(value) {
    if (value !== 'on' && value !== 'off') throw new Error('on or off')
    return value === 'on'
  },
  format: (value) => (value ? 'on' : 'off'),
}

/** The word `off` is parsed as `undefined`. */
export function orOff({ parse, format }: Kind<number>): Kind<number | undefined> {
  return {
    parse(text) {
      if (text === 'off') return undefined
      try {
        return parse(text)
      } catch (error) {
        throw new Error(`${messageOf(error)}, or off`)
      }
    },
    format: (value) => (value === undefined ? 'off' : format(value)),
  }
}

/** The default of an optional value, if any, depends on other settings. */
export function optional<T>({ format, ...kind }: Kind<T>): Kind<T | undefined> {
  return { ...kind, format: (value) => (value === undefined ? undefined : format(value)) }
}

/** URL of a Redis or Valkey server: hosts and ports, or a socket, with user and password. */
export const serverUrl: Kind<string> = {
  parse(value) {
    const isOne = tcpUrl.test(value) ? URL.canParse(value) : socketUrl.test(value)
    const isAddress = isOne || (clusterAddress(value) ?? sentinelAddress(value)) !== undefined
    if (isAddress && canDecode(value)) return value
    if (!value.includes('://')) throw new Error('a URL with a scheme, such as redis://HOST:PORT')
    throw new Error(urlForms.join(', '))
  },
  format: String,
  isSecret: true,
}

function canDecode(text: string): boolean {
  try {
    return decodeURIComponent(text) !== '' // uses the result, because the bundler drops calls whose result is unused
  } catch {
    return false
  }
}

export const networks: Kind<BlockList> = {
  parse(text) {
    const networks = new BlockList()
    for (const each of text.split(',')) {
      const [, address = '', , bits] = /^([^/]*)(\/(\d{1,3}))?$/.exec(each.trim()) ?? []
      const version = isIP(address)
      const most = version === 6 ? 128 : 32
      const length = bits === undefined ? most : Number(bits)
      if (version === 0 || length > most) {
        throw new Error('addresses or networks, such as 127.0.0.1,10.0.0.0/8')
      }
      networks.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4')
    }
    return networks
  },
  format: () => undefined,
}

/** Parses a size such as `16`, `16M`, `16MB` or `16MiB` into bytes; `undefined` if invalid. */
export function parseSize(text: string): number | undefined {
  const [, number = 'NaN', prefix = '', rest = ''] =
    /^(\d+)(?:b|([kmgt])(i?b)?)?$/i.exec(text) ?? []
  const base = rest.length === 2 ? 1024 : 1000
  const bytes = Number(number) * base ** ' kmgt'.indexOf(prefix.toLowerCase() || ' ')
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

/** Formats bytes in the largest unit that gives a whole number. */
export function formatSize(bytes: number): string {
  for (const unit of ['TiB', 'GiB', 'MiB', 'KiB', 'TB', 'GB', 'MB', 'kB']) {
    const amount = bytes / (parseSize(`1${unit}`) ?? 1)
    if (amount >= 1 && Number.isInteger(amount)) return `${amount}${unit}`
  }
  return String(bytes)
}

const durations = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses a time into ms; `undefined` if invalid. `plainUnit` is the unit of a bare number. */
export function parseDuration(text: string, plainUnit?: 'ms' | 's'): number | undefined {
  const [, number = 'NaN', unit = plainUnit] = /^(\d+)(ms|[smhd])?$/.exec(text) ?? []
  const time = Number(number) * durations[unit as keyof typeof durations] // `unit` may be `undefined`, which gives NaN
  return Number.isSafeInteger(time) ? time : undefined
}

/** Returns seconds. `label` names the flag or option in the error message. @throws {UsageError} */
export function parseLifetime(text: string, label: string): number {
  const seconds = (parseDuration(text) ?? 0) / 1000
  if (Number.isInteger(seconds) && seconds > 0) return seconds
  throw new UsageError(
    `${label} is ${JSON.stringify(text)}; expected a time such as 90s, 15m, 1h or 7d`,
  )
}
