/** `item-store/client`: the typed client, for browsers and Node.js. @module */

import type { HealthCheckResponse, Item } from '../interface/models.js'
import { createAbortScope, longestDelay } from './abort-scope.js'
import { type Fetch, type TextResponse, wholeText } from './fetch-text.js'
import { invalidResponse, membersOf, parsed, responseError } from './item-store-error.js'
import { itemTexts, singleItemText } from './item-texts.js'
import { createSender, type Send, type ServiceRequest } from './sender.js'
import { createTokenSource, type Token } from './token-source.js'

export { type ClientErrorCode, ItemStoreError } from './item-store-error.js'
export type { Fetch, HealthCheckResponse, Item, Token }

/** Turns an item into JSON text and back. `JSON` is one, and so is the module `lossless-json`. */
export interface JsonCodec {
  parse(text: string): unknown
  /** @returns `undefined` for what is not JSON. */
  stringify(value: unknown): string | undefined
}

export interface ItemStoreClientOptions {
  /** Ends with `/api/v1`. In a browser it may be relative to the page. */
  readonly baseUrl: string | URL
  /** A function is called at the first request, and once more when the token has expired. */
  readonly token: Token
  /** By default that of the platform. */
  readonly fetch?: Fetch | undefined
  /**
   * Longest wait in milliseconds, 30,000 by default: for the response to begin, for each further part of
   * it, for a token, and before a retry. Once it is exceeded, the call fails.
   */
  readonly timeout?: number | undefined
  /**
   * How often to retry a request after a 503 or when the connection failed; 3 by default. A create is
   * retried only if it was never sent, which Node.js can tell and a browser cannot.
   */
  readonly retries?: number | undefined
  /** Another one than `JSON`, which changes numbers beyond double precision and `1.0`. */
  readonly json?: JsonCodec | undefined
}

export interface CallOptions {
  /** Ends the call, which then fails with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

export interface WriteOptions extends CallOptions {
  /** The item's `project_id`: at least one character; null by default, on replace too. */
  readonly projectId?: string | null | undefined
}

/** An item of the type `T` as the service returns it (spec §2.1). */
export type StoredItem<T extends object = Item> = T & Pick<Item, 'id' | 'project_id'>

/** What an item of the type `T` is created from: its members but `id` and `project_id`. */
export type NewItem<T extends object = Item> = string extends keyof T
  ? object
  : T extends unknown // for each type of a union
    ? Omit<T, 'id' | 'project_id'>
    : never

/**
 * A client of one service.
 *
 * Every method throws an {@link ItemStoreError} when the service refuses the request or cannot be
 * reached, and the reason of the signal once that is aborted.
 *
 * @typeParam T the type of the items. It is not checked at run time.
 * @example
 * const client = new ItemStoreClient<{ title: string }>({ baseUrl, token })
 * const { id } = await client.create({ title: 'first' })
 */
export class ItemStoreClient<T extends object = Item> {
  readonly #send: Send
  readonly #timeout: number
  readonly #json: JsonCodec

  /** @throws {TypeError} when an option is missing or wrong. */
  constructor(options: ItemStoreClientOptions) {
    const { baseUrl, token, fetch, retries = 3, json = JSON } = options
    const timeout = Math.min(options.timeout ?? 30_000, longestDelay)
    if (!(timeout > 0)) throw wrong(`timeout is ${timeout}; expected milliseconds above 0`)
    if (!(retries >= 0)) throw wrong(`retries is ${retries}; expected a number from 0`)
    if (fetch !== undefined && typeof fetch !== 'function') throw wrong('fetch is not a function')
    if (typeof json?.parse !== 'function' || typeof json.stringify !== 'function') {
      throw wrong('json has no parse and stringify')
    }
    this.#timeout = timeout
    this.#json = json
    this.#send = createSender({
      ...{ fetch, timeout, retries },
      baseUrl: normalized(baseUrl),
      tokens: createTokenSource(token),
    })
  }

  /** Creates an item. @returns it with its `id`. */
  async create(data: NewItem<T>, options?: WriteOptions): Promise<StoredItem<T>> {
    return this.#parsed(await this.#write('POST', '/items', this.#textOf(data), options))
  }

  /** The item with this id. @throws {ItemStoreError} with `status` 404 when there is none. */
  async get(id: string, options?: CallOptions): Promise<StoredItem<T>> {
    return this.#parsed(await this.getText(id, options))
  }

  /** All items. For more than fit into memory, or to start with the first, use {@link items}. */
  async list(options?: CallOptions): Promise<StoredItem<T>[]> {
    const texts = await this.listText(options)
    return texts.map((text) => this.#parsed(text))
  }

  /**
   * Replaces an item completely, its `project_id` too, which becomes null unless it is given.
   * @throws {ItemStoreError} with `status` 404 when there is none.
   */
  async replace(id: string, data: NewItem<T>, options?: WriteOptions): Promise<StoredItem<T>> {
    return this.#parsed(await this.#write('PUT', pathOf(id), this.#textOf(data), options))
  }

  /** Deletes an item. @throws {ItemStoreError} with `status` 404 when there is none. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#call({ method: 'DELETE', path: pathOf(id) }, options, async (response) => {
      await wholeText(response)
      const { ok, status } = response.head
      // A web server may answer 200 to everything. A status that is not ok is the 404 that `send` let pass.
      if (ok && status !== 204) throw invalidResponse(response.head)
    })
  }

  /** The state of the service, healthy or not. Needs no token. */
  async health(options?: CallOptions): Promise<HealthCheckResponse> {
    const request: ServiceRequest = { method: 'GET', path: '/health', isHealthCheck: true }
    return await this.#call(request, options, async (response) => {
      const text = await wholeText(response)
      const health: object & { status?: unknown; services_summary?: unknown } = membersOf(
        parsed(text),
      )
      const { total } = membersOf(health.services_summary)
      const isHealth = health.status === 'healthy' || health.status === 'unhealthy'
      if (!isHealth || typeof total !== 'number') throw responseError(response.head, text)
      return health as HealthCheckResponse // no other response has these members
    })
  }

  /**
   * All items one after the other as they arrive, however many there are: memory holds only the latest part
   * of the response. Leaving the loop ends the response.
   */
  async *items({ signal }: CallOptions = {}): AsyncGenerator<StoredItem<T>, void, void> {
    const scope = createAbortScope(this.#timeout, signal)
    try {
      const response = await this.#send({ method: 'GET', path: '/items' }, scope, (each) => each)
      for await (const texts of itemTexts(response, 2)) {
        for (const text of texts) {
          scope.signal.throwIfAborted()
          yield this.#parsed(text)
        }
      }
    } finally {
      scope.dispose()
    }
  }

  /** The item's own JSON text, to the byte. Otherwise like {@link get}. */
  async getText(id: string, options?: CallOptions): Promise<string> {
    return await this.#call({ method: 'GET', path: pathOf(id) }, options, singleItemText)
  }

  /** The JSON text of each item, to the byte. */
  async listText(options?: CallOptions): Promise<string[]> {
    return await this.#call({ method: 'GET', path: '/items' }, options, async (response) => {
      const all: string[] = []
      for await (const texts of itemTexts(response, 2)) for (const text of texts) all.push(text)
      return all
    })
  }

  /**
   * Creates an item from the JSON text of its members, which is kept to the byte.
   * @returns the new item's JSON text, with its `id`.
   * @throws {SyntaxError} when it is not JSON.
   */
  async createText(text: string, options?: WriteOptions): Promise<string> {
    return await this.#write('POST', '/items', checked(text), options)
  }

  /** The same for {@link replace}. */
  async replaceText(id: string, text: string, options?: WriteOptions): Promise<string> {
    return await this.#write('PUT', pathOf(id), checked(text), options)
  }

  async #write(
    method: 'POST' | 'PUT',
    path: string,
    data: string,
    { projectId = null, ...options }: WriteOptions = {},
  ): Promise<string> {
    // A lone surrogate cannot be encoded in UTF-8, and `fetch` would replace it.
    if (/\p{Surrogate}/u.test(data)) throw wrong('data has a lone surrogate; write it as \\uXXXX')
    const project = projectId === null ? '' : `,"project_id":${JSON.stringify(projectId)}`
    return await this.#call(
      { method, path, body: `{"data":${data}${project}}` },
      options,
      singleItemText,
    )
  }

  async #call<R>(
    request: ServiceRequest,
    { signal }: CallOptions = {},
    read: (response: TextResponse) => Promise<R>,
  ): Promise<R> {
    const scope = createAbortScope(this.#timeout, signal)
    try {
      return await this.#send(request, scope, read)
    } finally {
      scope.dispose()
    }
  }

  #textOf(data: NewItem<T>): string {
    const text = this.#json.stringify(data)
    if (text === undefined) throw wrong('data is missing')
    return text
  }

  #parsed(text: string): StoredItem<T> {
    return this.#json.parse(text) as StoredItem<T> // whoever names the type knows what was stored
  }
}

function wrong(problem: string): TypeError {
  return new TypeError(`ItemStoreClient: ${problem}`)
}

/** The base URL without a slash at its end. */
function normalized(baseUrl: string | URL): string {
  const { location } = globalThis as { location?: { href: string } } // only pages have one
  let url: URL | undefined
  try {
    if (baseUrl) url = new URL(baseUrl, location?.href)
  } catch {
    // The same as a missing one.
  }
  const address = url && url.origin + url.pathname
  if (address === undefined || address !== url?.href || !address.startsWith('http')) {
    // Errors get logged, so what may be a password or another secret is masked.
    const shown = `"${baseUrl}"`
      .replace(/^("(?:\w+:\/\/)?).*@/s, '$1***@')
      .replace(/\?.+(?=")/s, '?***')
    throw wrong(
      `baseUrl is ${baseUrl ? shown : 'missing'}; expected for example "http://localhost:8000/api/v1"`,
    )
  }
  return address.replace(/\/+$/, '')
}

/** @throws {TypeError} for an id that cannot be one segment of a path: no item has it. */
function pathOf(id: string): string {
  if (!id) throw wrong('id is missing') // it would be the path of the list
  // `fetch` would resolve the dots as path segments, and a lone surrogate cannot be encoded in UTF-8.
  if (/^\.\.?$|\p{Surrogate}/u.test(id)) {
    throw wrong(`id is ${JSON.stringify(id)}; expected one segment of a path`)
  }
  return `/items/${encodeURIComponent(id)}`
}

/** A text that is one JSON value cannot add members to the request. */
function checked(text: string): string {
  JSON.parse(text)
  return text
}
