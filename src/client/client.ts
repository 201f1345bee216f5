/** `item-store/client`: the typed client, for browsers and Node.js. @module */

import type { HealthCheckResponse, Item } from '../interface/models.js'
import { ItemRequests, ifMatchHeaders, jsonText, listPath, pathOf } from './item-requests.js'
import { invalidResponse, membersIn, membersOf, responseError, wrong } from './item-store-error.js'
import { type ItemRead, keepTag, type TextResponse } from './item-texts.js'
import type {
  CallOptions,
  CreateOptions,
  ItemStoreClientOptions,
  ListOptions,
  MatchOptions,
  MaybePromise,
  NewItem,
  ReplaceOptions,
  StoredItem,
  UpdateOptions,
} from './options.js'
import { type CheckedOptions, checkedOptions, createSender, type Send } from './sender.js'

export { type ClientErrorCode, ItemStoreError } from './item-store-error.js'
export { type ItemRead, type TextResponse, tagOf } from './item-texts.js'
export type * from './options.js'
export type { ServiceRequest } from './sender.js'
export type { HealthCheckResponse, Item }

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
  /**
   * Sends a request that no other method makes, with the token, and again like others.
   * @param read makes the result of a response that reports no error.
   */
  readonly request: Send
  readonly #items: ItemRequests
  readonly #options: CheckedOptions

  /** @throws {TypeError} when an option is missing or wrong. */
  constructor(options: ItemStoreClientOptions) {
    this.#options = checkedOptions(options)
    this.request = createSender(this.#options, options.token)
    this.#items = new ItemRequests(this.request, this.#options)
  }

  /**
   * Creates an item. It is sent again like other requests, and makes one item however often it arrives.
   * @returns it with its `id`.
   * @throws {ItemStoreError} `IDEMPOTENCY_CONFLICT` when `itemId` was created with the same key, and is another one.
   */
  async create(data: NewItem<T>, options?: CreateOptions): Promise<StoredItem<T>> {
    return this.#parsed(await this.#items.create(this.#textOf(data), options))
  }

  /** The item with this id. @throws {ItemStoreError} with `status` 404 when there is none. */
  async get(id: string, options?: CallOptions): Promise<StoredItem<T>> {
    return this.#parsed(await this.#items.read(id, options))
  }

  /** All items, or a project's. For more than fit into memory, or to start with the first, use {@link items}. */
  async list(options?: ListOptions): Promise<StoredItem<T>[]> {
    return await this.request({ path: listPath(options) }, options, (all) => this.#all(all))
  }

  /**
   * Replaces an item completely, its `project_id` too, which becomes null unless it is given or in the data.
   * @throws {ItemStoreError} with `status` 404 when there is none; `PRECONDITION_FAILED`.
   */
  async replace(id: string, data: NewItem<T>, options?: ReplaceOptions): Promise<StoredItem<T>> {
    return this.#parsed(await this.#items.replace(id, this.#textOf(data), options))
  }

  /**
   * Changes an item in one step: reads it, and replaces it with what `change` makes of it if nobody else has
   * changed it meanwhile; otherwise from the start, up to 100 times. It keeps its `project_id` unless the data has another.
   * @param change may be called more than once. When it returns `undefined`, the item stays as it is.
   * @returns the item as it is now.
   * @throws {ItemStoreError} with `status` 404 when there is none; `PRECONDITION_FAILED` when others changed it
   * each time.
   */
  async update(
    id: string,
    change: (item: StoredItem<T>) => MaybePromise<NewItem<T> | undefined>,
    options?: UpdateOptions,
  ): Promise<StoredItem<T>> {
    const changed = (read: ItemRead) => change(this.#parsed(read))
    const textOf = (data: NewItem<T>) => this.#textOf(data)
    return this.#parsed(await this.#items.update(id, changed, textOf, options))
  }

  /** Deletes an item. @throws {ItemStoreError} with `status` 404 when there is none; `PRECONDITION_FAILED`. */
  async delete(id: string, options?: MatchOptions): Promise<void> {
    const path = pathOf(id)
    const headers = ifMatchHeaders(options)
    await this.request({ method: 'DELETE', path, headers }, options, async (response) => {
      await response.text()
      // A web server may answer 200 to everything. The 404 is the one that `send` let pass.
      if (![204, 404].includes(response.head.status)) throw invalidResponse(response.head)
    })
  }

  /**
   * An item, or all items, or a project's: as at present, then as after each change, until the signal is aborted; what fails
   * meanwhile is tried again. Of changes in quick succession, only the last may be seen. The loop ends when
   * the item is deleted.
   * @throws {ItemStoreError} what {@link get} and {@link list} throw, at first; later only what will not pass,
   * such as a 401.
   */
  watch(id: string, options?: CallOptions): AsyncGenerator<StoredItem<T>, void, void>
  watch(options?: ListOptions): AsyncGenerator<StoredItem<T>[], void, void>
  async *watch(
    target: string | ListOptions = {},
    options: CallOptions = {},
  ): AsyncGenerator<StoredItem<T> | StoredItem<T>[], void, void> {
    if (typeof target === 'string') {
      const stateOf = async (response: TextResponse) => this.#parsed(await response.item())
      yield* this.#items.watch(pathOf(target), options, stateOf)
    } else {
      yield* this.#items.watch(listPath(target), target, (response) => this.#all(response))
    }
  }

  /** The state of the service, healthy or not. Needs no token. */
  async health(options?: CallOptions): Promise<HealthCheckResponse> {
    return await this.request({ path: '/health' }, options, async (response) => {
      const text = await response.text()
      const health: object & Readonly<Record<string, unknown>> = membersIn(text)
      const isHealth = /^(un)?healthy$/.test(`${health.status}`)
      const { total } = membersOf(health.services_summary)
      if (!isHealth || typeof total !== 'number') throw responseError(response.head, text)
      return health as object as HealthCheckResponse // no other response has these members
    })
  }

  /**
   * All items, or a project's, one after the other as they arrive, however many there are: memory holds only the latest part
   * of the response. Leaving the loop ends the response.
   */
  async *items(options?: ListOptions): AsyncGenerator<StoredItem<T>, void, void> {
    const response = await this.request({ path: listPath(options) }, options, (each) => each)
    for await (const texts of response.texts()) {
      for (const text of texts) {
        options?.signal?.throwIfAborted()
        yield this.#parsed({ head: response.head, text })
      }
    }
  }

  /** The item's own JSON text, to the byte. Otherwise like {@link get}. */
  async getText(id: string, options?: CallOptions): Promise<string> {
    return (await this.#items.read(id, options)).text
  }

  /** The JSON text of each item, to the byte. */
  async listText(options?: ListOptions): Promise<string[]> {
    return await this.request({ path: listPath(options) }, options, (response) => response.all())
  }

  /**
   * Creates an item from the JSON text of its members, which is kept to the byte.
   * @returns the new item's JSON text, with its `id`.
   * @throws {SyntaxError} when it is not JSON.
   */
  async createText(text: string, options?: CreateOptions): Promise<string> {
    return (await this.#items.create(jsonText(text), options)).text
  }

  /** Replaces an item like {@link replace}, with JSON text that is kept to the byte. */
  async replaceText(id: string, text: string, options?: ReplaceOptions): Promise<string> {
    return (await this.#items.replace(id, jsonText(text), options)).text
  }

  /** Changes an item like {@link update}. `change` gets the item's own JSON text, and returns the new one. */
  async updateText(
    id: string,
    change: (text: string) => MaybePromise<string | undefined>,
    options?: UpdateOptions,
  ): Promise<string> {
    return (await this.#items.update(id, ({ text }) => change(text), jsonText, options)).text
  }

  async #all(response: TextResponse): Promise<StoredItem<T>[]> {
    return (await response.all()).map((text) => this.#parsed({ head: response.head, text }))
  }

  #textOf(data: NewItem<T>): string {
    const text = this.#options.json.stringify(data)
    if (text === undefined) throw wrong('data is missing')
    return text
  }

  #parsed({ head, text, tag }: ItemRead): StoredItem<T> {
    let item: StoredItem<T>
    try {
      item = this.#options.json.parse(text) as StoredItem<T> // whoever names the type knows what was stored
    } catch (cause) {
      throw invalidResponse(head, cause) // such as nesting that is too deep for a codec
    }
    keepTag(item, tag)
    return item
  }
}
