/** Parses setting values such as `16MB`, `512MiB` and `90s`. @module */

import { BlockList, isIP } from 'node:net'
import { addressIn } from '../store/redis/address.js'
import { UsageError } from './usage-error.js'

export interface Kind<T> {
  /** @returns `null` for text that is not as `expected`. */
  readonly parse: (text: string) => T | null
  readonly expected: string
  readonly isSecret?: boolean // may contain a password, and must not be printed
}

export const text = kindOf('text that is not empty', (text) => text || null)

/** Prefix without braces, because text between braces in a key determines its slot in a Redis cluster. */
export const keyPrefix = kindOf('text without braces', (text) => /^[^{}]+$/.exec(text)?.[0] ?? null)

export function oneOf<T>(choices: readonly T[]): Kind<T> {
  const parse = (text: string) => choices.find((choice) => String(choice) === text) ?? null
  return kindOf(`one of ${choices.join(', ')}`, parse)
}

export function integer(min: number, max: number): Kind<number> {
  const parse = (text: string) => between(min, max, /^\d+$/.test(text) ? Number(text) : undefined)
  return kindOf(`a whole number from ${min} to ${max}`, parse)
}

export function size(min: number, max = 1024 ** 5): Kind<number> {
  const range = `${formatSize(min)} to ${formatSize(max)}`
  const expected = `a size from ${range}, in bytes or with a unit such as kB, MB or MiB`
  return kindOf(expected, (text) => between(min, max, parseSize(text)))
}

/** Returns the kind for a time in whole seconds or ms. A number without a unit is in `unit`. */
export function time(unit: 's' | 'ms', min: number, max: number): Kind<number> {
  const parse = (text: string) => (parseDuration(text, unit) ?? Number.NaN) / durations[unit]
  const expected = `a time from ${min}${unit} to ${max}${unit}, with a unit such as ms, s or m`
  return kindOf(expected, (text) => between(min, max, parse(text)))
}

function between(min: number, max: number, number = Number.NaN): number | null {
  return Number.isInteger(number) && number >= min && number <= max ? number : null
}

export const onOrOff = kindOf('on or off', (text) =>
  ['off', 'on'].includes(text) ? text === 'on' : null,
)

/** Also accepts `off`, for `undefined`. */
export function orOff<T>({ parse, expected }: Kind<T>): Kind<T | undefined> {
  return kindOf(`${expected}, or off`, (text) => (text === 'off' ? undefined : parse(text)))
}

function kindOf<T>(expected: string, parse: Kind<T>['parse']): Kind<T> {
  return { expected, parse }
}

const socketUrl = /^redis\+unix:\/\/(?:[^@/:]*:[^@/]+@)?\/[^?#]+(?:\?db=\d+)?$/

/** Address of the server that keeps the items; `undefined` for `memory`. */
export const storeUrl: Kind<string | undefined> = {
  parse(text) {
    if (text === 'memory') return undefined
    const isAddress = socketUrl.test(text) || addressIn(text) !== undefined
    return isAddress && canDecode(text) ? text : null
  },
  expected: [
    'memory, or a URL with a scheme: redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]',
    'the same with rediss:// for TLS',
    'redis+unix://[[USER]:PASSWORD@]/PATH[?db=DATABASE]',
    'for sentinels redis+sentinel:// or rediss+sentinel:// and [[USER]:PASSWORD@]HOST[:PORT][,HOST[:PORT]]/NAME[/DATABASE]',
    'or for a cluster redis+cluster:// or rediss+cluster:// and [[USER]:PASSWORD@]HOST[:PORT][,HOST[:PORT]]',
  ].join(', '),
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
  expected: 'addresses or networks, such as 127.0.0.1,10.0.0.0/8',
  parse(text) {
    const networks = new BlockList()
    for (const each of text.split(',')) {
      const [, address = '', , bits] = /^([^/]*)(\/(\d{1,3}))?$/.exec(each.trim()) ?? []
      const version = isIP(address)
      const most = version === 6 ? 128 : 32
      const length = bits === undefined ? most : Number(bits)
      if (version === 0 || length > most) return null
      networks.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4')
    }
    return networks
  },
}

export function parseSize(text: string): number | undefined {
  const [, number = 'NaN', prefix = '', rest = ''] =
    /^(\d+)(?:b|([kmgt])(i?b)?)?$/i.exec(text) ?? []
  const base = rest.length === 2 ? 1024 : 1000
  const bytes = Number(number) * base ** ' kmgt'.indexOf(prefix.toLowerCase() || ' ')
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

export function formatSize(bytes: number): string {
  for (const unit of ['TiB', 'GiB', 'MiB', 'KiB', 'TB', 'GB', 'MB', 'kB']) {
    const amount = bytes / (parseSize(`1${unit}`) ?? 1)
    if (amount >= 1 && Number.isInteger(amount)) return `${amount}${unit}`
  }
  return String(bytes)
}

const durations = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Converts a time to ms; `undefined` if invalid. A plain number is in `plainUnit`. */
export function parseDuration(text: string, plainUnit?: 'ms' | 's'): number | undefined {
  const [, number = 'NaN', unit = plainUnit] = /^(\d+)(ms|[smhd])?$/.exec(text) ?? []
  const time = Number(number) * durations[unit as keyof typeof durations] // `unit` may be `undefined`, which gives NaN
  return Number.isSafeInteger(time) ? time : undefined
}

/** Converts a token lifetime, such as `15m` or `-1s`, to seconds. @throws {UsageError} whose message names `label`. */
export function parseLifetime(text: string, label: string): number {
  const isPast = text.startsWith('-')
  const seconds = (parseDuration(text.slice(isPast ? 1 : 0)) ?? 0) / 1000
  if (Number.isInteger(seconds) && seconds > 0) return isPast ? -seconds : seconds
  const given = JSON.stringify(text)
  throw new UsageError(`${label} is ${given}; expected a time such as 90s, 15m, 1h or 7d`)
}
