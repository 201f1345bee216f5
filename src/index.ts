/// <reference lib="esnext.disposable" preserve="true" />
/** Runs an item store inside another program, for example a test suite. @module */

import './config/package.js'
import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { type CurrentSigning, followSecret, signingProblem, signToken } from './auth/secret.js'
import { ItemStoreClient } from './client/client.js'
import { parseLifetime } from './config/kinds.js'
import { configFrom } from './config/read-config.js'
import type { Config } from './config/settings.js'
import { UsageError } from './config/usage-error.js'
import { createDoubles } from './doubles/doubles.js'
import type { Delay, Failure, Failures, RecordedRequest, RequestScope } from './doubles/options.js'
import { requestsFrom, storeItems } from './doubles/seed.js'
import type { Item } from './interface/models.js'
import { prefix } from './interface/paths.js'
import { createService, openMemoryStore } from './service.js'

export type { Delay, Failure, Failures, Item, ItemStoreClient, RecordedRequest, RequestScope }

/** Options of an embedded item store. An option that is `undefined` gets its default. */
export interface ItemStoreOptions {
  /** TCP port to listen on. With 0, the default, the system picks a free port. */
  readonly port?: number | undefined
  /** Address to listen on; `127.0.0.1` by default. */
  readonly host?: string | undefined
  /** Token secret, or a function that returns it; random by default. Without a secret, item requests get 503. */
  readonly secret?: string | (() => string | undefined) | undefined
  /** Maximum size of a request body, in bytes; 16 MiB by default. A larger body gets 413. */
  readonly maxBodyBytes?: number | undefined
  /** Maximum size of all items, in bytes; by default, half of the memory. When the store is full, creates get a 507. */
  readonly maxStoreBytes?: number | undefined
  /** Delay added to each item operation, in milliseconds: a fixed number, or a range for random delays. */
  readonly delay?: number | Delay | undefined
  /** Failures to inject into item requests, such as `[503, 'cut']`. A request that fails has no effect. */
  readonly failures?: Failures | undefined
  /** Seed for new ids. Each reset restarts the sequence of ids. By default, ids are random. */
  readonly ids?: string | undefined
  /** Whether `requests` returns bodies too; `false` by default. */
  readonly recordBodies?: boolean | undefined
}

export interface TokenOptions {
  /** The token's `sub` claim, which names the caller; `embedded` by default. */
  readonly sub?: string | undefined
  /** Token lifetime, such as `90s` or `15m`; `1h` by default. `-1s` produces an expired token. */
  readonly expires?: string | undefined
}

export interface EmbeddedItemStore extends AsyncDisposable {
  /** URL of the store, for example `http://127.0.0.1:40123`. */
  readonly url: string
  /** Base URL of the interface, for example `http://127.0.0.1:40123/api/v1`. */
  readonly baseUrl: string
  /** Returns an access token. @throws {Error} if an option is invalid, or the store has no secret. */
  token(options?: TokenOptions): Promise<string>
  /** Returns a client with its own token. @typeParam T the type of the items. */
  client<T extends object = Item>(options?: TokenOptions): ItemStoreClient<T>
  /**
   * Stores items, or item requests (objects with only `data` and possibly `project_id`). Returns their ids.
   * @throws {Error} and stores nothing if an object is not an item, or if the store is full.
   */
  seed(items: readonly object[]): Promise<string[]>
  /** Stores items like `seed`, but from JSON texts such as `['{"price":1.10}']`, which are kept byte for byte. */
  seedText(texts: readonly string[]): Promise<string[]>
  /** Makes requests that match `scope` fail until the next reset. @throws {Error} for invalid arguments. */
  fail(failures: Failures, scope?: RequestScope): void
  /**
   * Adds a delay to each request that matches `scope`, in place of the option `delay`. It applies until the next reset.
   * @throws {Error} for invalid arguments.
   */
  delay(delay: number | Delay, scope?: RequestScope): void
  /** Returns the requests since the latest reset, at most the last 10,000, in the order in which they ended. */
  requests(): RecordedRequest[]
  /**
   * Removes items and recorded requests, and restarts ids, failures and delays. Delayed requests, and unfinished
   * creates and replaces, fail with status 503 and have no effect. A `seed` in progress rejects.
   */
  reset(): Promise<void>
  /** Answers the requests already accepted, then closes all connections. @throws {Error} if called twice. */
  stop(): Promise<void>
  /** Stops the store, unless it is already stopped. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Turns off overload protection: the host program affects memory use and event loop delay too. */
const unwatched = { limits: [], exceededLimit: () => undefined }

/**
 * Starts an item store, which logs nothing and ignores `process.env`.
 * @throws {Error} if an option is invalid or the port is in use. After an error, nothing is left running.
 */
export async function startItemStore(options: ItemStoreOptions = {}): Promise<EmbeddedItemStore> {
  const { secret, delay, failures, ids, recordBodies, ...settings } = options ?? {}
  const signing = signingWith(secret)
  const doubles = createDoubles({ delay, failures, ids, recordBodies })
  const config = configOf(settings)
  const log = pino({ level: 'silent' })
  const store = openMemoryStore(config)
  const parts = { store, log, signing, doubles, requestLogLevel: 'debug', load: unwatched } as const
  const service = createService(config, parts)
  const url = await service.listen().catch(async (error) => {
    await service.stop(0)
    throw error
  })
  const baseUrl = `${url}${prefix}`
  let stopped: Promise<void> | undefined

  async function token({ sub = 'embedded', expires = '1h' }: TokenOptions = {}): Promise<string> {
    if (typeof sub !== 'string') throw new UsageError(`sub is ${sub}; expected text`)
    if (signingProblem(signing)) throw new UsageError(`at present, ${expectedSecret}`)
    return signToken(sub, parseLifetime(String(expires), 'expires'), signing())
  }

  function needRunning(): void {
    if (stopped !== undefined) throw new Error('this item store is already stopped')
  }

  async function end(): Promise<void> {
    stopped ??= service.stop(0)
    await stopped
  }

  async function seed<T>(given: readonly T[], textOf: (each: T) => unknown): Promise<string[]> {
    needRunning()
    const isCurrent = doubles.sinceNow()
    const items = await requestsFrom(given, textOf)
    return await storeItems(store, items, doubles.newId, isCurrent)
  }

  return {
    url,
    baseUrl,
    token,
    client: (options) => new ItemStoreClient({ baseUrl, token: () => token(options) }),

    seed: (items) => seed(items, (item) => JSON.stringify(item)),
    seedText: (texts) => seed(texts, (text) => text),

    fail(failures, scope) {
      needRunning()
      doubles.fail(failures, scope)
    },

    delay(delay, scope) {
      needRunning()
      doubles.delay(delay, scope)
    },

    requests: () => doubles.requests(),

    async reset() {
      needRunning()
      doubles.reset()
      store.clear()
    },

    async stop() {
      needRunning()
      await end()
    },

    [Symbol.asyncDispose]: end,
  }
}

function configOf({ port = 0, host = '127.0.0.1', ...others }: ItemStoreOptions): Config {
  const { maxBodyBytes, maxStoreBytes, ...unknown } = others
  const keys = Object.entries(unknown).flatMap(([key, value]) => (value === undefined ? [] : key))
  if (keys.length > 0) throw new UsageError(`unknown option ${keys.join(', ')}`)
  return configFrom({ port, host, maxBodyBytes, maxStoreBytes, shutdownTimeout: 1 }) // 1 second
}

const expectedSecret = 'secret must be text that is not empty, of valid Unicode without U+FFFD'

/** Returns keys for `secret`, by default 32 random bytes (RFC 7518 §3.2). @throws {UsageError} if they're unusable. */
function signingWith(secret: unknown = randomBytes(32).toString('base64url')): CurrentSigning {
  const isFunction = typeof secret === 'function'
  const currentSigning = followSecret(() => {
    const current: unknown = isFunction ? secret() : secret
    return typeof current === 'string' ? current : undefined
  })
  if (!isFunction && signingProblem(currentSigning)) throw new UsageError(expectedSecret)
  return currentSigning
}
