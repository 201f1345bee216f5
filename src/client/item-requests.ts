/** The requests for items, with their JSON text: one at a time, a change of what is there, and following changes. @module */

import { wait } from './fetch-text.js'
import { hasCode, ItemStoreError, invalidResponse, wrong } from './item-store-error.js'
import { type ItemRead, type TextResponse, tagOf } from './item-texts.js'
import {
  type CallOptions,
  type CheckedOptions,
  type CreateOptions,
  itemRequestText,
  type MatchOptions,
  pathOf,
  projectIn,
  type ReplaceOptions,
  requireText,
  type UpdateOptions,
  type WriteOptions,
} from './options.js'
import { backoff, isItemMissing, retryDelay, type Send, type ServiceRequest } from './sender.js'

/** Longest wait in seconds: many proxies end a request after 60. */
const longestWait = 40
/** Before the next read, in milliseconds, so that what changes without end is read ten times a second at most. */
const shortPause = 100
/** 16 clients that change one item without a pause need up to 22, and 64 of them up to 47. */
const mostAttempts = 100

export class ItemRequests {
  readonly #send: Send
  readonly #options: CheckedOptions

  constructor(send: Send, options: CheckedOptions) {
    this.#send = send
    this.#options = options
  }

  read(id: string, options?: CallOptions): Promise<ItemRead> {
    return this.#send({ path: pathOf(id) }, options, (response) => response.item())
  }

  async create(data: string, options: CreateOptions = {}): Promise<ItemRead> {
    // Not `randomUUID`, which pages without TLS do not have.
    const { idempotencyKey = crypto.getRandomValues(new Uint32Array(4)).join('-') } = options
    requireText('idempotencyKey', idempotencyKey)
    const headers = { 'idempotency-key': idempotencyKey }
    return await this.#write({ method: 'POST', headers }, data, options)
  }

  async replace(id: string, data: string, options?: ReplaceOptions): Promise<ItemRead> {
    const request = { method: 'PUT', path: pathOf(id), headers: ifMatchHeaders(options) } as const
    return await this.#write(request, data, options)
  }

  async #write(
    request: ServiceRequest,
    data: string,
    { projectId, ...options }: WriteOptions = {},
  ): Promise<ItemRead> {
    const body = itemRequestText(data, projectId)
    return await this.#send({ ...request, body }, options, (response) => response.item())
  }

  /**
   * Replaces an item by what `make` returns for it, and starts over when it has changed meanwhile. It keeps its project
   * unless the data has another. If `make` returns `undefined`, the item stays as it is.
   */
  async update(
    id: string,
    make: (read: ItemRead) => Promise<string | undefined>,
    { isRepeatable, ...options }: UpdateOptions = {},
  ): Promise<ItemRead> {
    for (let attempts = 1, lost = 0; ; attempts += 1) {
      const read = await this.read(id, options)
      const data = await make(read)
      if (data === undefined) return read
      const { head, text, tag: ifMatch } = read
      if (!ifMatch) throw invalidResponse(head, wrong('the item has no tag'))
      const projectId = projectIn(data) === undefined ? projectIn(text) : undefined // that of the data
      try {
        return await this.replace(id, data, { ...options, projectId, ifMatch })
      } catch (error) {
        const isConflict = hasCode(error, 'PRECONDITION_FAILED') && attempts < mostAttempts
        // Conflicts are over sooner than failures: a tenth of their delays is 20 ms at first.
        const delay = isConflict
          ? backoff({}, attempts) / 10
          : retryDelay(error, !isRepeatable, lost, this.#options)
        if (delay === undefined) throw error
        if (!isConflict) lost += 1
        await wait(delay, options.signal)
      }
    }
  }

  /**
   * Reads that wait (interface §4.10): the present state at this path, then each that a later read finds, until the
   * signal is aborted or the item is deleted.
   */
  async *watch<State>(
    path: string,
    options: CallOptions,
    stateOf: (response: TextResponse) => Promise<State>,
  ): AsyncGenerator<State, void, void> {
    const seconds = Math.floor(Math.min(longestWait, this.#options.timeout / 1500)) // two thirds of the timeout
    let known: string | null | undefined
    for (let failures = 0; ; ) {
      let pause = shortPause
      try {
        const headers = known ? { 'if-none-match': known, prefer: `wait=${seconds}` } : undefined
        const [head, state] = await this.#send({ path, headers }, options, async (response) => {
          const isSame = headers && response.head.status === 304
          return [response.head.headers, isSame ? undefined : await stateOf(response)] as const
        })
        const tag = head.get('etag')
        const isNew = tag !== known
        if (!isNew && !head.has('preference-applied')) pause = backoff({}, 9) // the longest
        known = tag
        failures = 0
        if (state !== undefined && (isNew || !tag)) yield state
      } catch (error) {
        if (known === undefined || !(error instanceof ItemStoreError)) throw error
        if (isItemMissing(error)) return
        const { code, status = 500 } = error
        // What may pass, as when a service restarts, behind a proxy too.
        if (status < 500 && code !== 'CONNECTION_LOST') throw error
        pause = backoff(error, failures)
        failures += 1
      }
      await wait(pause, options.signal)
    }
  }
}

/** The headers of a change with a condition. @throws {TypeError} for an item without a tag. */
export function ifMatchHeaders({ ifMatch }: MatchOptions = {}): Record<string, string> {
  if (ifMatch === undefined) return {}
  return { 'if-match': typeof ifMatch === 'string' ? ifMatch : tagOf(ifMatch) }
}
