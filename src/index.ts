/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Runs an item store inside another program, for example a test suite. The process of that program serves the store
 * over HTTP. The store has its own secret.
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

/** Options of an embedded item store. An option that is `undefined` gets its default. */
export interface ItemStoreOptions {
  /** TCP port. With 0, the default, the system picks a free port. */
  readonly port?: number | undefined
  /** Address to listen on; `127.0.0.1` by default. */
  readonly host?: string | undefined
  /**
   * Secret that signs the tokens; random by default. A function such as `() => process.env.JWT_SECRET` is called each
   * time a token is signed or verified. While the function returns no secret, item requests get 503.
   */
  readonly secret?: string | (() => string | undefined) | undefined
  /** Maximum size of a request body, in bytes; 16 MiB by default. A larger body gets 413. */
  readonly maxBodyBytes?: number | undefined
  /**
   * Maximum total size of all items, in bytes; half of memory by default. A create that would exceed this size gets
   * 507.
   */
  readonly maxStoreBytes?: number | undefined
  /** Delay before each operation on items, in milliseconds: a fixed time, or the range of a random time. */
  readonly delay?: number | Delay | undefined
  /**
   * How item requests fail. Requests that fail have no effect. A list such as `[503, 'cut']` applies to the first
   * requests in order. A record such as `{ 503: 0.1, cut: 0.05 }` gives each kind of failure a probability.
   */
  readonly failures?: Failures | undefined
  /**
   * Text from which the ids of new items are derived. After a reset, the same ids are used again. By default, ids are
   * random.
   */
  readonly ids?: string | undefined
}

/** Options of a token. */
export interface TokenOptions {
  /** Name of the caller, for the claim `sub`; `embedded` by default. */
  readonly sub?: string
  /** Lifetime of the token, such as `90s`, `15m` or `1h`; `1h` by default. With `-1s`, the token is already expired. */
  readonly expires?: string
}

/** A running item store. */
export interface EmbeddedItemStore extends AsyncDisposable {
  /** URL of the store, for example `http://127.0.0.1:40123`. */
  readonly url: string
  /** Base URL of the interface: `url` with the prefix of all paths, for example `http://127.0.0.1:40123/api/v1`. */
  readonly baseUrl: string
  /** Returns a token for this store. @throws {Error} if an option is invalid, or the store has no secret at present. */
  token(options?: TokenOptions): Promise<string>
  /**
   * Returns a client of this store with its own token.
   * @typeParam T the type of the items.
   */
  client<T extends object = Item>(options?: TokenOptions): ItemStoreClient<T>
  /**
   * Stores items, before or between tests.
   * @param items either objects with the members of an item, or item requests: objects with `data`, an optional
   * `project_id` and no other member. All items are converted with `JSON.stringify`.
   * @returns the ids, in the same order.
   * @throws {Error} if an object is not an item (the message has its index), or if the store is full. In either case,
   * no item is kept.
   */
  seed(items: readonly object[]): Promise<string[]>
  /**
   * Stores items that contain values which `JSON.stringify` cannot write, such as exact numbers.
   * @param texts JSON texts of items or item requests, such as `['{"price":1.10,"total":12345678901234567890}']`.
   * @returns the ids, in the same order.
   * @throws {Error} in the same cases as `seed`.
   */
  seedText(texts: readonly string[]): Promise<string[]>
  /**
   * Makes item requests fail from now on, until the next reset. The argument `failures` has the same format as the
   * option `failures`.
   * @param scope method and path of the requests that may fail; all item requests by default.
   * @throws {Error} if an argument is invalid.
   */
  fail(failures: Failures, scope?: FailureScope): void
  /** Returns the latest 10,000 requests since the last reset, in the order in which they ended. */
  requests(): RecordedRequest[]
  /**
   * Restores the initial state, for example between two tests. Removes all items and recorded requests, and resets the
   * ids and failures. Item requests that are still delayed fail.
   */
  reset(): Promise<void>
  /**
   * Answers the requests that were already sent, closes all connections, and releases the items.
   * @throws {Error} if the store is already stopped.
   */
  stop(): Promise<void>
  /** Stops the store, unless it is already stopped. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Names of the options that are also settings of the service. */
const settingNames: readonly string[] = [
  'port',
  'host',
  'maxBodyBytes',
  'maxStoreBytes',
] satisfies (keyof SettingValues & keyof ItemStoreOptions)[]

/** Defaults of settings, where they differ from the defaults of the command `item-store`. */
const defaults = {
  port: 0,
  host: '127.0.0.1',
  shutdownTimeout: 1, // seconds
}

/** Turns off the limits on memory and event loop delay, because the host program affects both. */
const unwatched = { exceededLimit: () => undefined, bodyReceived: () => undefined }

const secretLength = 32 // bytes, see RFC 7518 §3.2

/**
 * Starts an item store in this process. The store logs nothing, and neither reads nor changes `process.env`.
 * Several stores can run side by side, each with its own items.
 * @throws {Error} if an option is invalid or the port is in use. In that case, nothing is left running.
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

/** @throws {UsageError} if options are unknown or invalid, with one line per option. */
function settingsFrom(given: object): Config {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  const unknown = entries.map(([name]) => name).filter((name) => !settingNames.includes(name))
  if (unknown.length > 0) throw new UsageError(`unknown option ${unknown.join(', ')}`)
  const [empty] = entries.find(([, value]) => value === null) ?? []
  if (empty !== undefined) throw new UsageError(`${empty} is null; leave it out for the default`)
  return configFrom({ ...defaults, ...Object.fromEntries(entries) })
}

const expectedSecret = 'secret must be text that is not empty, of valid Unicode without U+FFFD'

/** @throws {UsageError} if a text is unusable. The result of a function is checked on each call instead. */
function signingWith(secret: unknown): CurrentSigning {
  const isFunction = typeof secret === 'function'
  const currentSigning = followSecret(() => {
    const current: unknown = isFunction ? secret() : secret
    return typeof current === 'string' ? current : undefined
  })
  if (!isFunction && signingProblem(currentSigning)) throw new UsageError(expectedSecret)
  return currentSigning
}

/** Parses the lifetime of a token into seconds. A minus sign makes the result negative. @throws {UsageError} */
function lifetimeOf(expires: string): number {
  const isPast = String(expires).startsWith('-')
  const seconds = parseLifetime(String(expires).slice(isPast ? 1 : 0), 'expires')
  return isPast ? -seconds : seconds
}
