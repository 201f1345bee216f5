/** Reads and checks settings from flags, environment variables and options. @module */

import { fractionOfMemory } from '../memory/shares.js'
import { nearest } from './flags.js'
import type { Config, SettingValues } from './settings.js'
import { flagOf, limitsFor, nameOf, settingNames, settings } from './settings.js'
import { UsageError } from './usage-error.js'

type Defaults = Partial<Record<keyof SettingValues, string>>

/** Reads settings. A flag overrides a variable. `fromFile` names the variables from `.env`. @throws {UsageError} */
export function readConfig(
  flagValues: Record<string, unknown>,
  env = process.env,
  fromFile: ReadonlySet<string> = new Set(),
  defaults: Defaults = {},
): Config {
  return configOf((name, key) => {
    const flag = flagValues[flagOf(name)]
    if (typeof flag === 'string') return [flag, `--${flagOf(name)}`]
    const text = env[name]
    if (!text) return [defaults[key], name, ' by default']
    return [text, name, fromFile.has(name) ? ' in .env' : ' in the environment']
  })
}

/** Checks settings given in the units of `Config`, and adds the defaults. @throws {UsageError} */
export function configFrom(values: Partial<Record<keyof SettingValues, unknown>>): Config {
  return configOf((_name, key) => {
    const { [key]: value } = values
    return value === undefined ? [undefined, key, ' by default'] : [String(value), key]
  })
}

const maxBucketsInCluster = 4096

type Input = readonly [text: string | undefined, label: string, source?: string]

function configOf(inputFor: (name: string, key: keyof SettingValues) => Input): Config {
  const problems: string[] = []
  const given: Record<string, string> = {}
  const entries = Object.entries(settings).map(([key, setting]) => {
    const name = nameOf(key)
    const [text, label, source = ''] = inputFor(name, key as keyof SettingValues) // the table of settings has this key
    given[name] = `${label} (${text ?? setting.defaultText}${source})`
    const value = text === undefined ? setting.default : setting.parse(text)
    if (value === null) {
      const is = setting.isSecret ? 'not usable' : JSON.stringify(text)
      problems.push(`${label} is ${is}${source}; expected ${setting.expected}`)
    }
    return [key, value]
  })
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  const values = Object.fromEntries(entries) as SettingValues // the table of settings has all keys
  const { host, metricsHost = host, maxMemoryBytes } = values
  const isLower = maxMemoryBytes < settings.maxMemoryBytes.default
  const half = Math.floor((isLower ? maxMemoryBytes : fractionOfMemory(1)) / 2)
  const { maxStoreBytes = half } = values
  const isSameAddress =
    host === metricsHost || ['0.0.0.0', '::'].some((all) => [host, metricsHost].includes(all))
  if (values.port === values.metricsPort && isSameAddress) {
    throw new UsageError(`${given.METRICS_PORT} must differ from ${given.PORT}`)
  }
  // If the items could fill all of the allowed memory, none would be left for reading them.
  if (values.storeUrl === undefined && maxStoreBytes >= maxMemoryBytes) {
    throw new UsageError(`${given.MAX_STORE_BYTES} must be less than ${given.MAX_MEMORY_BYTES}`)
  }
  // In a cluster, each poll for changes sends a command for each bucket.
  const { storeUrl = '', storeBuckets } = values
  if (/^rediss?\+cluster:/.test(storeUrl) && storeBuckets > maxBucketsInCluster) {
    throw new UsageError(
      `${given.STORE_BUCKETS} may be at most ${maxBucketsInCluster} in a cluster`,
    )
  }
  return { ...values, ...limitsFor(values), metricsHost, maxStoreBytes }
}

/** Ports that browsers and `fetch` refuse to connect to (Fetch standard, "port blocking"). */
const blockedPorts =
  '1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'.split(
    ' ',
  )

/** Returns warnings about a blocked port, and about unknown names with a prefix, such as `ITEM_STORE_PORT`. */
export function settingWarnings(port: number, env = process.env): string[] {
  const blocked = `browsers and fetch refuse to connect to port ${port}; choose another port with --port`
  const misspelt = Object.keys(env)
    .filter((name) => /^(?:STORE|ITEM)_/.test(name) && !settingNames.includes(name))
    .flatMap((name) => {
      const guesses = [name, name.replace('ITEM_', ''), name.replace(/^ITEM_(?:STORE_)?/, '')]
      const meant = guesses.map((guess) => nearest(guess, settingNames)).find(Boolean)
      return meant === undefined ? [] : [`${name} is not a setting; did you mean ${meant}?`]
    })
  return blockedPorts.includes(String(port)) ? [blocked, ...misspelt] : misspelt
}
