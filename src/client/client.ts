/** The module `item-store/client`: a typed client for browsers and Node.js. @module */

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
 * A client of one item store service.
 *
 * Every method throws an {@link ItemStoreError} if the service rejects the request or cannot be reached.
 * If the signal in the options is aborted, the method throws the signal's reason.
 *
 * @typeParam T the type of the items, which is not checked at run time.
 * @example
 * const client = new ItemStoreClient<{ title: string }>({ baseUrl, token })
 * const { id } = await client.create({ title: 'first' })
 */
export class ItemStoreClient<T extends object = Item> {
  /**
   * Sends a request that no other method of this class offers, such as HEAD, with the token and the usual retries.
   * @param read turns a response that is not an error into the result.
   */
  readonly request: Send
  readonly #items: ItemRequests
  readonly #options: CheckedOptions

  /** @throws {TypeError} if an option is missing or wrong. */
  constructor(options: ItemStoreClientOptions) {
    this.#options = checkedOptions(options)
    this.request = createSender(this.#options, options.token)
    this.#items = new ItemRequests(this.request, this.#options)
  }

  /**
   * Creates an item. The request may be sent more than once, but creates only one item.
   * @returns the item with its `id`.
   * @throws {ItemStoreError} `IDEMPOTENCY_CONFLICT`, with an `itemId`, if the idempotency key belongs to another item.
   */
  async create(data: NewItem<T>, options?: CreateOptions): Promise<StoredItem<T>> {
    return this.#parsed(await this.#items.create(this.#textOf(data), options))
  }

  /** Returns the item with this id. @throws {ItemStoreError} with `status` 404 if the item does not exist. */
  async get(id: string, options?: CallOptions): Promise<StoredItem<T>> {
    return this.#parsed(await this.#items.read(id, options))
  }

  /** Returns all items, or a project's items. {@link items} uses less memory, because it yields them as they arrive. */
  async list(options?: ListOptions): Promise<StoredItem<T>[]> {
    return await this.request({ path: listPath(options) }, options, (all) => this.#all(all))
  }

  /**
   * Replaces an item completely. Its `project_id` becomes null unless the options or the data contain a `project_id`.
   * @throws {ItemStoreError} with `status` 404 if the item does not exist; `PRECONDITION_FAILED` if the item's tag is
   * not the tag in `ifMatch`.
   */
  async replace(id: string, data: NewItem<T>, options?: ReplaceOptions): Promise<StoredItem<T>> {
    return this.#parsed(await this.#items.replace(id, this.#textOf(data), options))
  }

  /**
   * Changes an item: reads it, calls `change`, and writes the result unless the item has changed in the meantime. After
   * a conflict, starts over, up to 100 times. Keeps the `project_id` unless the data contains one.
   * @param change may be called more than once. If it returns `undefined`, the item is not changed.
   * @returns the current item.
   * @throws {ItemStoreError} with `status` 404 if the item does not exist; `PRECONDITION_FAILED` after 100 conflicts.
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

  /** Deletes an item. @throws {ItemStoreError} in the same cases as {@link replace}. */
  async delete(id: string, options?: MatchOptions): Promise<void> {
    const path = pathOf(id)
    const headers = ifMatchHeaders(options)
    await this.request({ method: 'DELETE', path, headers }, options, async (response) => {
      await response.text()
      // A 200 comes from a web server that responds 200 to every request. A 404 means that an earlier attempt
      // succeeded.
      if (![204, 404].includes(response.head.status)) throw invalidResponse(response.head)
    })
  }

  /**
   * Yields the state of an item, all items or a project's items, then each new state until the signal is aborted.
   * Changes in quick succession may yield only the last state. Failures are retried. Ends when the item is deleted.
   * @throws {ItemStoreError} in the same cases as {@link get} and {@link list}; after the first state, only for
   * permanent errors, such as a 401.
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

  /** Returns the health of the service, even if it is `unhealthy`. No token is needed. */
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
   * Yields all items, or a project's items, as they arrive. Only the latest part of the response is held in memory. If
   * the caller leaves the loop early, the response is cancelled.
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

  /** Returns an item like {@link get}, but as JSON text, byte for byte. */
  async getText(id: string, options?: CallOptions): Promise<string> {
    return (await this.#items.read(id, options)).text
  }

  /** Returns items like {@link list}, but as JSON texts, byte for byte. */
  async listText(options?: ListOptions): Promise<string[]> {
    return await this.request({ path: listPath(options) }, options, (response) => response.all())
  }

  /**
   * Creates an item from the JSON text of its members, which is stored byte for byte.
   * @returns the new item's JSON text, with its `id`.
   * @throws {SyntaxError} if `text` is not JSON.
   */
  async createText(text: string, options?: CreateOptions): Promise<string> {
    return (await this.#items.create(jsonText(text), options)).text
  }

  /** Replaces an item like {@link replace}, with JSON text that is stored byte for byte. */
  async replaceText(id: string, text: string, options?: ReplaceOptions): Promise<string> {
    return (await this.#items.replace(id, jsonText(text), options)).text
  }

  /** Changes an item like {@link update}. `change` receives the item's JSON text and returns the new text. */
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
      item = this.#options.json.parse(text) as StoredItem<T> // the caller has chosen T, which is not checked
    } catch (cause) {
      throw invalidResponse(head, cause) // for example, the item is nested too deeply for the codec
    }
    keepTag(item, tag)
    return item
  }
}
