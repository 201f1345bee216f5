/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The item store inside another program, for example a test suite: served over HTTP from this process,
 * with a secret of its own.
 *
 * @module
 */

import './config/package.js'
import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { type CurrentSigning, followSecret, signingProblem, signToken } from './auth/secret.js'
import { ItemStoreClient } from './client/client.js'
import { parseLifetime } from './config/kinds.js'
import { configFrom } from './config/read-config.js'
import type { Config, SettingValues } from './config/settings.js'
import { UsageError } from './config/usage-error.js'
import { createDoubles } from './doubles/doubles.js'
import {
  checkedDelay,
  checkedFailures,
  checkedScope,
  type Delay,
  type Failure,
  type FailureScope,
  type Failures,
  type RecordedRequest,
} from './doubles/options.js'
import { requestsFrom, storeItems } from './doubles/seed.js'
import type { Item } from './interface/models.js'
import { prefix } from './interface/names.js'
import { createService, openMemoryStore } from './service.js'

export type { Delay, Failure, FailureScope, Failures, Item, ItemStoreClient, RecordedRequest }

/** Options of an embedded item store; `undefined` stands for the default. */
export interface ItemStoreOptions {
  /** TCP port; 0, the default, picks a free one. */
  readonly port?: number | undefined
  /** Address to listen on; `127.0.0.1` by default. */
  readonly host?: string | undefined
  /**
   * Signs the tokens; random by default. A function returns the current secret each time that a token is signed or
   * verified, such as `() => process.env.JWT_SECRET`; while it returns none, item requests get 503.
   */
  readonly secret?: string | (() => string | undefined) | undefined
  /** Maximum size of a request body, in bytes; 16 MiB by default. A larger one gets 413. */
  readonly maxBodyBytes?: number | undefined
  /** Maximum total size of all items, in bytes; half of memory by default. Beyond it, a create gets 507. */
  readonly maxStoreBytes?: number | undefined
  /** Waits before each operation on items, in milliseconds, or for a random time in a range. */
  readonly delay?: number | Delay | undefined
  /**
   * How item requests fail before they do anything: the first ones, one after the other, such as
   * `[503, 'cut']`; or any, each at a rate, such as `{ 503: 0.1, cut: 0.05 }`.
   */
  readonly failures?: Failures | undefined
  /** Any text: the ids of new items follow from it, and start over after a reset. Random by default. */
  readonly ids?: string | undefined
}

/** What a token says. */
export interface TokenOptions {
  /** The caller; `embedded` by default. */
  readonly sub?: string
  /** Time until it expires, such as `90s`, `15m` or `1h`; `1h` by default. `-1s` makes a token that has expired. */
  readonly expires?: string
}

/** A running item store. */
export interface EmbeddedItemStore extends AsyncDisposable {
  /** Where it listens, for example `http://127.0.0.1:40123`. */
  readonly url: string
  /** The address of the interface, `url` with the prefix of all paths: `http://127.0.0.1:40123/api/v1`. */
  readonly baseUrl: string
  /** A token that only this store accepts. @throws {Error} if an option is invalid, or there is no secret at present. */
  token(options?: TokenOptions): Promise<string>
  /**
   * A client with a token of its own.
   * @typeParam T the type of the items.
   */
  client<T extends object = Item>(options?: TokenOptions): ItemStoreClient<T>
  /**
   * Stores items, before or between tests.
   * @param items objects with an item's members, or item requests: objects with `data` and, if present,
   * `project_id`, and no other member. They are turned into JSON text by `JSON.stringify`.
   * @returns the ids, in the same order.
   * @throws {Error} if one is not an item, and says which, or if the store is full; none is stored then.
   */
  seed(items: readonly object[]): Promise<string[]>
  /**
   * Stores items whose values `JSON.stringify` could not write, such as exact numbers.
   * @param texts JSON texts of what `seed` takes; `['{"price":1.10,"total":12345678901234567890}']`.
   * @returns the ids, in the same order.
   * @throws {Error} as `seed` does.
   */
  seedText(texts: readonly string[]): Promise<string[]>
  /**
   * Makes item requests fail from now on, in the ways of the option `failures`, until the next reset.
   * @param scope the requests that may fail; all by default.
   * @throws {Error} if an argument is invalid.
   */
  fail(failures: Failures, scope?: FailureScope): void
  /** Returns the requests since the last reset in the order in which they ended; of more than 10,000 the latest. */
  requests(): RecordedRequest[]
  /**
   * Starts over, for example between two tests: without items, with the ids and failures of the start. Creates
   * that are delayed at that moment fail.
   */
  reset(): Promise<void>
  /**
   * Answers what was sent, closes all connections, and releases the items.
   * @throws {Error} if it has been stopped before.
   */
  stop(): Promise<void>
  /** Stops it, unless it has been stopped before. */
  [Symbol.asyncDispose](): Promise<void>
}

/** The options that are settings of the service. */
const settingNames: readonly string[] = [
  'port',
  'host',
  'maxBodyBytes',
  'maxStoreBytes',
] satisfies (keyof SettingValues & keyof ItemStoreOptions)[]

/** Where defaults differ from those of the command. */
const defaults = {
  port: 0,
  host: '127.0.0.1',
  shutdownTimeout: 1, // seconds
}

/** Memory and event loop belong to the program around the store, so they are neither measured nor limited. */
const unwatched = { exceededLimit: () => undefined, bodyReceived: () => undefined }

const secretLength = 32 // bytes, see RFC 7518 §3.2

/**
 * Starts an item store in this process. It logs nothing, and neither reads nor changes `process.env`.
 * Any number of them can run side by side, each with its own items.
 * @throws {Error} if an option is invalid or the port is taken; nothing is left running then.
 */
export async function startItemStore(options: ItemStoreOptions = {}): Promise<EmbeddedItemStore> {
  const { secret = newSecret(), delay, failures, ids, ...given } = options ?? {}
  const signing = signingWith(secret)
  if (ids !== undefined && typeof ids !== 'string') throw new UsageError('ids is not text')
  const doubles = createDoubles({
    delay: delay === undefined ? undefined : checkedDelay(delay),
    failures: failures === undefined ? undefined : checkedFailures(failures),
    ids,
  })
  const config = settingsFrom(given)
  const log = pino({ level: 'silent' })
  const store = openMemoryStore(config)
  const service = createService(config, {
    ...{ store, log, signing, doubles },
    requestLogLevel: 'debug',
    load: unwatched,
  })
  const url = await service.listen().catch(async (error) => {
    await store.close()
    throw error
  })
  const baseUrl = `${url}${prefix}`
  let stopped: Promise<void> | undefined

  async function token({ sub = 'embedded', expires = '1h' }: TokenOptions = {}): Promise<string> {
    if (typeof sub !== 'string') throw new UsageError(`sub is ${sub}; expected text`)
    if (signingProblem(signing)) throw new UsageError(`at present, ${expectedSecret}`)
    return signToken(sub, lifetimeOf(expires), signing())
  }

  function needRunning(): void {
    if (stopped !== undefined) throw new Error('this item store is already stopped')
  }

  async function seed<T>(given: readonly T[], textOf: (each: T) => unknown): Promise<string[]> {
    needRunning()
    return await storeItems(store, requestsFrom(given, textOf), doubles.newId)
  }

  async function end(): Promise<void> {
    await service.stop(0)
    await store.close()
  }

  return {
    url,
    baseUrl,
    token,
    client: (options) => new ItemStoreClient({ baseUrl, token: () => token(options) }),

    seed: (items) => seed(items, (item) => JSON.stringify(item)),
    seedText: (texts) => seed(texts, (text) => text),

    fail(failures, scope = {}) {
      needRunning()
      doubles.fail(checkedFailures(failures), checkedScope(scope))
    },

    requests: () => doubles.requests(),

    async reset() {
      needRunning()
      doubles.reset()
      store.clear()
    },

    async stop() {
      needRunning()
      stopped = end()
      await stopped
    },

    async [Symbol.asyncDispose]() {
      stopped ??= end()
      await stopped
    },
  }
}

function newSecret(): string {
  return randomBytes(secretLength).toString('base64url')
}

/** @throws {UsageError} with a line for each problem. */
function settingsFrom(given: object): Config {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  const unknown = entries.map(([name]) => name).filter((name) => !settingNames.includes(name))
  if (unknown.length > 0) throw new UsageError(`unknown option ${unknown.join(', ')}`)
  const [empty] = entries.find(([, value]) => value === null) ?? []
  if (empty !== undefined) throw new UsageError(`${empty} is null; leave it out for the default`)
  return configFrom({ ...defaults, ...Object.fromEntries(entries) })
}

const expectedSecret = 'secret must be text that is not empty, of valid Unicode without U+FFFD'

/** @throws {UsageError} unless it is a function, whose result is checked at each use. */
function signingWith(secret: unknown): CurrentSigning {
  const isFunction = typeof secret === 'function'
  const currentSigning = followSecret(() => {
    const current: unknown = isFunction ? secret() : secret
    return typeof current === 'string' ? current : undefined
  })
  if (!isFunction && signingProblem(currentSigning)) throw new UsageError(expectedSecret)
  return currentSigning
}

/** Returns the seconds until a token expires; negative after a minus sign. @throws {UsageError} */
function lifetimeOf(expires: string): number {
  const isPast = String(expires).startsWith('-')
  const seconds = parseLifetime(String(expires).slice(isPast ? 1 : 0), 'expires')
  return isPast ? -seconds : seconds
}
