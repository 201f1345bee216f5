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
  TaggedItem,
  UpdateOptions,
} from './options.js'
import { type CheckedOptions, checkedOptions, createSender, type Send } from './sender.js'

export { type ClientErrorCode, ItemStoreError } from './item-store-error.js'
export { type ItemRead, type TextResponse, tagOf } from './item-texts.js'
export type * from './options.js'
export type { ServiceRequest } from './sender.js'
export type { HealthCheckResponse, Item }

/**
 * A client for one item store service. Methods throw an {@link ItemStoreError}, or the signal's reason after an abort.
 * @typeParam T type of the items, unchecked at run time.
 */
export class ItemStoreClient<T extends object = Item> {
  /** Sends a request for which there's no other method, such as a HEAD, with retries. `read` converts the response. */
  readonly request: Send
  readonly #items: ItemRequests
  readonly #options: CheckedOptions

  /** @throws {TypeError} if an option is missing or invalid. */
  constructor(options: ItemStoreClientOptions) {
    this.#options = checkedOptions(options)
    this.request = createSender(this.#options, options.token)
    this.#items = new ItemRequests(this.request, this.#options)
  }

  /** Creates exactly one item, even if the request is retried. @throws {ItemStoreError} `IDEMPOTENCY_CONFLICT`. */
  async create(data: NewItem<T>, options?: CreateOptions): Promise<TaggedItem<T>> {
    return this.#parsed(await this.#items.create(this.#textOf(data), options))
  }

  /** Returns an item. @throws {ItemStoreError} with `status` 404 if it doesn't exist. */
  async get(id: string, options?: CallOptions): Promise<TaggedItem<T>> {
    return this.#parsed(await this.#items.read(id, options))
  }

  /** Returns all items, or the items of one project. {@link items} needs less memory. */
  async list(options?: ListOptions): Promise<StoredItem<T>[]> {
    return await this.request({ path: listPath(options) }, options, (all) => this.#all(all))
  }

  /**
   * Replaces an item. Its project becomes null unless the options or the data contain a `project_id`.
   * @throws {ItemStoreError} `PRECONDITION_FAILED` if the item's tag is not `ifMatch`; `status` 404 for a missing item.
   */
  async replace(id: string, data: NewItem<T>, options?: ReplaceOptions): Promise<TaggedItem<T>> {
    return this.#parsed(await this.#items.replace(id, this.#textOf(data), options))
  }

  /**
   * Replaces an item with the result of `change`. Keeps the project unless the result names another.
   * @param change called again after a conflict. Returns `undefined` to leave the item unchanged.
   * @throws {ItemStoreError} `PRECONDITION_FAILED` after 100 conflicts; `status` 404 if the item is missing.
   */
  async update(
    id: string,
    change: (item: TaggedItem<T>) => MaybePromise<NewItem<T> | undefined>,
    options?: UpdateOptions,
  ): Promise<TaggedItem<T>> {
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
      // A 404 gets here only after a retry: an earlier attempt may have deleted the item. A 200 can't be from an item
      // store.
      if (![204, 404].includes(response.head.status)) throw invalidResponse(response.head)
    })
  }

  /**
   * Yields the item or list now and after each change, until the item is deleted or the signal aborts. If changes
   * follow each other quickly, some states are skipped, but never the last one.
   * @throws {ItemStoreError} like {@link get} or {@link list} at first; later, only for permanent errors such as a 401.
   */
  watch(id: string, options?: CallOptions): AsyncGenerator<TaggedItem<T>, void, void>
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

  /** Returns the health of the service, even if the status is `unhealthy`. Sends no token. */
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

  /** Yields items as they arrive, to save memory. Leaving the loop early cancels the response. */
  async *items(options?: ListOptions): AsyncGenerator<StoredItem<T>, void, void> {
    const response = await this.request({ path: listPath(options) }, options, (each) => each)
    for await (const texts of response.texts()) {
      for (const text of texts) {
        options?.signal?.throwIfAborted()
        yield this.#parsed({ head: response.head, text })
      }
    }
  }

  /** Like {@link get}, but returns the item's JSON text exactly as the service sent it. */
  async getText(id: string, options?: CallOptions): Promise<string> {
    return (await this.#items.read(id, options)).text
  }

  /** Like {@link list}, but returns each item's JSON text exactly as the service sent it. */
  async listText(options?: ListOptions): Promise<string[]> {
    return await this.request({ path: listPath(options) }, options, (response) => response.all())
  }

  /** Creates an item from JSON text, which is stored byte for byte. @throws {SyntaxError} if the text is not JSON. */
  async createText(text: string, options?: CreateOptions): Promise<string> {
    return (await this.#items.create(jsonText(text), options)).text
  }

  /** Replaces an item with JSON text, which is stored byte for byte. See {@link replace}. */
  async replaceText(id: string, text: string, options?: ReplaceOptions): Promise<string> {
    return (await this.#items.replace(id, jsonText(text), options)).text
  }

  /** Updates an item like {@link update}, but `change` receives and returns JSON text. */
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

  #parsed({ head, text, tag }: ItemRead): TaggedItem<T> {
    let item: TaggedItem<T>
    try {
      item = this.#options.json.parse(text) as TaggedItem<T> // the caller has chosen T, which is not checked
    } catch (cause) {
      throw invalidResponse(head, cause)
    }
    keepTag(item, tag)
    return item
  }
}
