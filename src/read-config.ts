/** Environment and flags in, a checked `Config` out. @module */

import { type Config, flagOf, type Setting, settings, type Values } from './config.js'
import { onOrOff } from './setting-kinds.js'
import { UsageError } from './usage-error.js'

/**
 * Reads all settings; a flag takes precedence over the environment, an empty variable counts as unset.
 * @param flagValues values of flags, by flag name.
 * @param fromFile names of the variables in `env` that come from the file `.env`.
 * @throws {UsageError} with a line for each problem.
 */
export function readConfig(
  flagValues: Record<string, unknown>,
  env: NodeJS.ProcessEnv,
  fromFile: ReadonlySet<string> = new Set(),
): Config {
  return checkedConfig(({ name }) => {
    const flag = flagValues[flagOf(name)]
    if (typeof flag === 'string') return { text: flag, label: `--${flagOf(name)}`, where: '' }
    const text = env[name] || undefined
    if (text === undefined) return { text, label: name, where: ' by default' }
    const where = fromFile.has(name) ? ' in .env' : ' in the environment'
    return { text, label: name, where }
  })
}

/**
 * The settings with these values, in the units of `Config`; those that are left out or `undefined` have
 * their defaults.
 * @throws {UsageError} with a line for each problem.
 */
export function configFrom(values: Partial<Config>): Config {
  const given = new Map(Object.entries(values))
  return checkedConfig((_setting, key) => {
    const value = given.get(key)
    if (value === undefined) return { text: undefined, label: key, where: ' by default' }
    return {
      text: typeof value === 'boolean' ? onOrOff().show(value) : String(value),
      label: key,
      where: '',
    }
  })
}

/** The text given for a setting, if any, what it is called there, and the words that say where. */
interface Given {
  readonly text: string | undefined
  readonly label: string
  readonly where: string
}

/** @throws {UsageError} with a line for each problem. */
function checkedConfig(given: (setting: Setting<unknown>, key: string) => Given): Config {
  const problems: string[] = []
  const labels = new Map<Setting<unknown>, string>()
  const workers = workersIn(given(settings.workers, 'workers').text)
  const entries = Object.entries<Setting<unknown>>(settings).map(([key, setting]) => {
    const { text, label, where } = given(setting, key)
    const { value, shown } = setting.defaultAmong(workers)
    labels.set(setting, `${label} (${text ?? shown}${where})`)
    if (text === undefined) return [key, value]
    try {
      return [key, setting.parse(text)]
    } catch (error) {
      const expected = error instanceof Error ? error.message : String(error)
      const is = setting.isSecret ? 'not usable' : JSON.stringify(text)
      problems.push(`${label} is ${is}${where}; expected ${expected}`)
      return [key, value]
    }
  })
  const values = Object.fromEntries(entries) as Values // one entry for each key of the table
  const config = { ...values, metricsHost: values.metricsHost ?? values.host }
  const shown = (setting: Setting<unknown>) => labels.get(setting) ?? setting.name
  if (problems.length === 0) problems.push(...contradictions(config, shown))
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return config
}

/** The number of processes that share the memory of this machine; 1 where the text is at fault. */
function workersIn(text: string | undefined): number {
  try {
    return text === undefined ? 1 : settings.workers.parse(text)
  } catch {
    return 1
  }
}

/** Settings that contradict each other: one line for each problem. */
function contradictions(config: Config, shown: (setting: Setting<unknown>) => string): string[] {
  const { port, metricsPort, maxBodyBytes, maxPendingBytes } = config
  const { storeUrl, maxStoreBytes, maxMemoryBytes, workers } = config
  const rules = [
    {
      isBroken: metricsPort === port,
      settings: [settings.metricsPort, settings.port],
      rule: 'must differ from',
    },
    {
      isBroken: maxPendingBytes < maxBodyBytes,
      settings: [settings.maxPendingBytes, settings.maxBodyBytes],
      rule: 'must be at least',
    },
    {
      // Otherwise a full store would make the service refuse most requests, reads included.
      isBroken: storeUrl === undefined && workers === 1 && maxStoreBytes >= maxMemoryBytes,
      settings: [settings.maxStoreBytes, settings.maxMemoryBytes],
      rule: 'must be less than',
    },
  ]
  const problems = rules
    .filter(({ isBroken }) => isBroken)
    .map(({ settings, rule }) => settings.map(shown).join(` ${rule} `))
  if (storeUrl === undefined && workers > 1) {
    problems.push(
      `${shown(settings.workers)} needs STORE_URL: in process memory, each worker would have items of its own`,
    )
  }
  return problems
}
