/** The requests for items, with their JSON text: one at a time, a change of what is there, and following changes. @module */

import { wait } from './fetch-text.js'
import { hasCode, ItemStoreError, invalidResponse, wrong } from './item-store-error.js'
import { type ItemRead, type TextResponse, tagOf } from './item-texts.js'
import type {
  CallOptions,
  CreateOptions,
  ListOptions,
  MatchOptions,
  MaybePromise,
  ReplaceOptions,
  UpdateOptions,
  WriteOptions,
} from './options.js'
import {
  backoff,
  type CheckedOptions,
  isItemMissing,
  retryDelay,
  type Send,
  type ServiceRequest,
} from './sender.js'

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
   * Replaces an item by what `change` returns for it, and starts over when it has changed meanwhile. It keeps its project
   * unless the data has another. If `change` returns `undefined`, the item stays as it is.
   */
  async update<Data>(
    id: string,
    change: (read: ItemRead) => MaybePromise<Data | undefined>,
    textOf: (data: Data) => string,
    { isRepeatable, ...options }: UpdateOptions = {},
  ): Promise<ItemRead> {
    for (let attempts = 1, lost = 0; ; attempts += 1) {
      const read = await this.read(id, options)
      const changed = await change(read)
      if (changed === undefined) return read
      const data = textOf(changed)
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

/** @throws {TypeError} for an id that cannot be one segment of a path: no item has it. */
export function pathOf(id: string): string {
  // An empty id would make the path of the list. `fetch` would resolve the dots as path segments, and a
  // lone surrogate cannot be encoded in UTF-8.
  if (!id || /^\.\.?$|\p{Surrogate}/u.test(id)) {
    throw wrong(`id is ${JSON.stringify(id)}; expected one path segment`)
  }
  return `/items/${encodeURIComponent(id)}`
}

/** The path of the list. @throws {TypeError} for a project that is not text, or has a lone surrogate. */
export function listPath({ projectId }: ListOptions = {}): string {
  if (projectId === undefined) return '/items'
  requireText('project_id', projectId)
  requirePairs(projectId)
  return `/items?project_id=${encodeURIComponent(projectId)}`
}

/** @throws {TypeError} */
function requireText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw wrong(`${name} is not text`)
}

/** @throws {TypeError} for a lone surrogate. It cannot be encoded in UTF-8, and `fetch` would replace it. */
function requirePairs(text: string): void {
  if (/\p{Surrogate}/u.test(text)) throw wrong('lone surrogate; JSON can escape it')
}

/** A text that is one JSON value, so that it cannot add members to the request. @throws {SyntaxError} */
export function jsonText(text: string): string {
  JSON.parse(text)
  return text
}

/**
 * The text of an item request: what a create or replace sends.
 * @param data the JSON text of an object.
 * @param projectId if left out, that of the data, in which the service would drop it.
 * @throws {TypeError} for half a character, and for a project that is not text: `JSON` turns 1e400 into `null`.
 */
function itemRequestText(data: string, projectId: unknown = projectIn(data)): string {
  requirePairs(data)
  if (projectId == null) return `{"data":${data}}`
  requireText('project_id', projectId)
  return `{"data":${data},"project_id":${JSON.stringify(projectId)}}`
}

/** The `project_id` in the JSON text of an item, however the name is escaped; `undefined` if there is none. */
function projectIn(text: string): string | null | undefined {
  return /"project_id"|\\u00/.test(text) ? JSON.parse(text)?.project_id : undefined
}
