/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The item store inside of another program, for example a test suite: served over HTTP from this
 * process, with a secret of its own.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { parseLifetime } from './auth/lifetime.js'
import { createSigning } from './auth/secret.js'
import { ItemStoreClient } from './client/client.js'
import { type Config, configFrom } from './config.js'
import type { Item } from './interface/models.js'
import { prefix } from './interface/paths.js'
import type { ItemRequest } from './item/item-request.js'
import { InvalidSeedError, parseSeed, storeItems } from './item/seed.js'
import { createSilentLog } from './log.js'
import { startServer } from './server.js'
import { UsageError } from './usage-error.js'
import { readVersion } from './version.js'

export type { Item, ItemStoreClient }

/** Settings of the service, see docs/settings.md; sizes are in bytes, times in seconds. */
type Limits = Partial<Omit<Config, 'logLevel' | 'metricsPort' | 'metricsHost'>>

/** Options of an embedded item store. */
export interface ItemStoreOptions extends Limits {
  /** TCP port; 0, the default, picks a free one. */
  readonly port?: number
  /** Address to listen on; `127.0.0.1` by default. */
  readonly host?: string
  /** Signs the tokens; random by default. */
  readonly secret?: string
}

/** What a token says. */
export interface TokenOptions {
  /** The caller; `embedded` by default. */
  readonly sub?: string
  /** Time until it expires, such as `90s`, `15m` or `1h`; `1h` by default. */
  readonly expires?: string
}

/** A running item store. */
export interface EmbeddedItemStore extends AsyncDisposable {
  /** Where it listens, for example `http://127.0.0.1:40123`. */
  readonly url: string
  /** The address of the interface, `url` with the prefix of all paths: `http://127.0.0.1:40123/api/v1`. */
  readonly baseUrl: string
  /** A token that this store accepts, and no other. @throws {Error} if an option is not usable. */
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
   * @throws {Error} that says which is not an item; none is stored then.
   */
  seed(items: readonly object[]): Promise<string[]>
  /** Removes all items, for example between two tests. */
  reset(): Promise<void>
  /**
   * Answers what was sent, closes all connections, and releases the items.
   * @throws {Error} if it has been stopped before.
   */
  stop(): Promise<void>
  /** Stops it, unless it has been stopped before. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * How a store inside of another program differs from one with a process of its own: the event loop and
 * its delays are those of the program, and whoever stops it has had its answers.
 */
const defaults = {
  port: 0,
  host: '127.0.0.1',
  maxEventLoopDelay: 60_000, // milliseconds
  shutdownTimeout: 1, // seconds
}

const signatureAlgorithm = 'HS256'
const secretLength = 32 // bytes, see RFC 7518 §3.2

/**
 * Starts an item store in this process. It logs nothing, and neither reads nor changes `process.env`.
 * Any number of them can run side by side, each with its own items.
 * @throws {Error} if an option is not usable or the port is taken; nothing is left running then.
 */
export async function startItemStore(options: ItemStoreOptions = {}): Promise<EmbeddedItemStore> {
  const { secret = randomBytes(secretLength).toString('base64url'), ...settings } = options
  if (secret === '') throw new UsageError('secret is empty; leave it out for a random one')
  const signing = createSigning(secret, signatureAlgorithm)
  const server = await startServer(configFrom({ ...defaults, ...settings }), {
    version: readVersion(),
    log: createSilentLog(),
    requestLogLevel: 'debug',
    currentSigning: () => signing,
  })
  const baseUrl = `${server.url}${prefix}`
  let isStopped = false

  async function token({ sub = 'embedded', expires = '1h' }: TokenOptions = {}): Promise<string> {
    const { signToken } = await import('./auth/sign.js')
    return await signToken(sub, parseLifetime(expires, 'expires'), { signing })
  }

  async function stop(): Promise<void> {
    if (isStopped) throw new Error('this item store has been stopped already')
    isStopped = true
    await server.stop()
  }

  return {
    url: server.url,
    baseUrl,
    token,

    client: (options) => new ItemStoreClient({ baseUrl, token: () => token(options) }),

    async seed(items) {
      return await storeItems(server.store, requestsOf(items))
    },

    async reset() {
      await server.store.clear()
    },

    stop,

    async [Symbol.asyncDispose]() {
      if (!isStopped) await stop()
    },
  }
}

/** @throws {UsageError} with the place in the array of what is not an item. */
function requestsOf(items: readonly object[]): ItemRequest[] {
  return items.flatMap((item, place) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      throw new UsageError(`item ${place} of the seed is not an object`)
    }
    try {
      return parseSeed(Buffer.from(JSON.stringify(item)))
    } catch (error) {
      if (!(error instanceof InvalidSeedError)) throw error
      throw new UsageError(`item ${place} of the seed: ${error.message}`)
    }
  })
}
