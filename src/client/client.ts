/** `item-store/client`: the typed client, for browsers and Node.js. @module */

import type { HealthCheckResponse, Item } from '../interface/models.js'
import { type Fetch, type Reply, textOf } from './exchange.js'
import { invalidResponse, objectOf, refusal } from './item-store-error.js'
import { itemTexts } from './item-texts.js'
import { type Call, createSender, type Send } from './sender.js'
import { createTokenSource, type Token } from './token-source.js'
import { longestWait, startWaiting } from './waiting.js'

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
  /** A function is asked at the first request, and once again when the token has expired. */
  readonly token: Token
  /** The platform's by default. */
  readonly fetch?: Fetch | undefined
  /**
   * Longest wait in milliseconds, 30,000 by default: for the response to begin, for each next part of it,
   * for a token, and before another attempt. Once it is exceeded, the call fails.
   */
  readonly timeout?: number | undefined
  /**
   * How often to send a request again after a 503 or when the connection failed; 3 by default. A create is
   * sent again only if it never left, which Node.js tells and a browser does not.
   */
  readonly retries?: number | undefined
  /** Keeps what `JSON`, the default, would change: numbers beyond double precision, `1.0`. */
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

/** What an item of the type `T` is made of; its `id` and `project_id` come from elsewhere. */
export type NewItem<T extends object = Item> = string extends keyof T
  ? object
  : T extends unknown // for each type of a union
    ? Omit<T, 'id' | 'project_id'>
    : never

/**
 * A client of one service.
 *
 * Every method throws an {@link ItemStoreError} when the service refuses the request or cannot be
 * reached, and the reason of the signal when that is aborted.
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
    const timeout = Math.min(options.timeout ?? 30_000, longestWait)
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
      baseUrl: addressOf(baseUrl),
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
    await this.#call({ method: 'DELETE', path: pathOf(id) }, options, async (reply) => {
      await textOf(reply)
      const { ok, status } = reply.response
      // A server of pages answers 200 to everything. What is not ok is the 404 that `send` let pass.
      if (ok && status !== 204) throw invalidResponse(reply.response)
    })
  }

  /** The state of the service, healthy or not. Needs no token. */
  async health(options?: CallOptions): Promise<HealthCheckResponse> {
    const call: Call = { method: 'GET', path: '/health', isHealthCheck: true }
    return await this.#call(call, options, async (reply) => {
      const text = await textOf(reply)
      const health = objectOf(text)
      if (!('services_summary' in health)) throw refusal(reply.response, text)
      return health as HealthCheckResponse // no other response has this member
    })
  }

  /**
   * All items one after the other while they come in, however many there are: memory holds the part of
   * the response that has just arrived. Leaving the loop ends the response.
   */
  async *items({ signal }: CallOptions = {}): AsyncGenerator<StoredItem<T>, void, void> {
    const waiting = startWaiting(this.#timeout, signal)
    try {
      const reply = await this.#send({ method: 'GET', path: '/items' }, waiting, (reply) => reply)
      for await (const texts of itemTexts(reply, 2)) {
        for (const text of texts) {
          waiting.signal.throwIfAborted()
          yield this.#parsed(text)
        }
      }
    } finally {
      waiting.end()
    }
  }

  /** The item's own JSON text, to the byte. Otherwise like {@link get}. */
  async getText(id: string, options?: CallOptions): Promise<string> {
    return await this.#call({ method: 'GET', path: pathOf(id) }, options, singleText)
  }

  /** The JSON text of each item, to the byte. */
  async listText(options?: CallOptions): Promise<string[]> {
    return await this.#call({ method: 'GET', path: '/items' }, options, async (reply) => {
      const all: string[] = []
      for await (const texts of itemTexts(reply, 2)) for (const text of texts) all.push(text)
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
    // A lone surrogate has no form in UTF-8, and `fetch` would put another character in its place.
    if (/\p{Surrogate}/u.test(data)) throw wrong('data has a lone surrogate; write it as \\uXXXX')
    const project = projectId === null ? '' : `,"project_id":${JSON.stringify(projectId)}`
    return await this.#call(
      { method, path, body: `{"data":${data}${project}}` },
      options,
      singleText,
    )
  }

  async #call<R>(
    call: Call,
    { signal }: CallOptions = {},
    read: (reply: Reply) => Promise<R>,
  ): Promise<R> {
    const waiting = startWaiting(this.#timeout, signal)
    try {
      return await this.#send(call, waiting, read)
    } finally {
      waiting.end()
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
function addressOf(baseUrl: string | URL): string {
  let url: URL | undefined
  try {
    // Only a page has a location.
    if (baseUrl) url = new URL(baseUrl, Object(globalThis).location?.href)
  } catch {
    // The same as none.
  }
  const address = url && url.origin + url.pathname
  if (address === undefined || address !== url?.href || !address.startsWith('http')) {
    // Errors are logged: what may be a password or another secret is not shown.
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
  // `fetch` takes the dots as steps through the path, and a lone surrogate has no form in UTF-8.
  if (/^\.\.?$|\p{Surrogate}/u.test(id)) {
    throw wrong(`id is ${JSON.stringify(id)}; expected one segment of a path`)
  }
  return `/items/${encodeURIComponent(id)}`
}

/** Text that is one JSON value cannot add members to the request. */
function checked(text: string): string {
  JSON.parse(text)
  return text
}

/** The text of the item in a response. */
async function singleText(reply: Reply): Promise<string> {
  let item: string | undefined
  for await (const [text] of itemTexts(reply, 1)) item ??= text
  if (item === undefined) throw invalidResponse(reply.response)
  return item
}
