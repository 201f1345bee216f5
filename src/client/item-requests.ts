/** Creates, reads, replaces, updates and watches items as JSON text. @module */

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
import type { CheckedOptions, Send, SendOptions, ServiceRequest } from './sender.js'
import { backoff, isItemMissing, retryDelay } from './sender.js'

const longestWait = 40 // in seconds; many proxies end requests after 60 s
const shortPause = 100
const mostAttempts = 100 // 64 clients that change the same item can need 47

export class ItemRequests {
  readonly #send: Send
  readonly #options: CheckedOptions

  constructor(send: Send, options: CheckedOptions) {
    this.#send = send
    this.#options = options
  }

  read(id: string, options?: SendOptions): Promise<ItemRead> {
    return this.#send({ path: pathOf(id) }, options, (response) => response.item())
  }

  async create(data: string, options: CreateOptions = {}): Promise<ItemRead> {
    const { idempotencyKey = newKey() } = options
    requireText('idempotencyKey', idempotencyKey)
    const headers = { 'idempotency-key': idempotencyKey }
    return await this.#write({ method: 'POST', headers }, data, options)
  }

  async replace(
    id: string,
    data: string,
    options?: ReplaceOptions & SendOptions,
  ): Promise<ItemRead> {
    const request = { method: 'PUT', path: pathOf(id), headers: ifMatchHeaders(options) } as const
    return await this.#write(request, data, options)
  }

  async #write(
    request: ServiceRequest,
    data: string,
    { projectId, ...options }: WriteOptions & SendOptions = {},
  ): Promise<ItemRead> {
    const body = itemRequestText(data, projectId)
    return await this.#send({ ...request, body }, options, (response) => response.item())
  }

  async update<Data>(
    id: string,
    change: (read: ItemRead) => MaybePromise<Data | undefined>,
    textOf: (data: Data) => string,
    { isRepeatable, ...options }: UpdateOptions = {},
  ): Promise<ItemRead> {
    const used = { retries: 0 }
    for (let attempts = 1; ; attempts += 1) {
      const read = await this.read(id, { ...options, used })
      const changed = await change(read)
      if (changed === undefined) return read
      const data = textOf(changed)
      const { head, text, tag: ifMatch } = read
      if (!ifMatch) throw invalidResponse(head, wrong('the item has no tag'))
      // Keeps the item's project, unless the new data has one: `replace` uses it if `projectId` is `undefined`.
      const projectId = projectIn(data) === undefined ? projectIn(text) : undefined
      try {
        return await this.replace(id, data, { ...options, used, projectId, ifMatch })
      } catch (error) {
        const isConflict = hasCode(error, 'PRECONDITION_FAILED') && attempts < mostAttempts
        // The first delay after a conflict is only 20 to 40 ms, because a quick retry usually succeeds.
        const delay = isConflict
          ? backoff({}, attempts) / 10
          : retryDelay(error, !isRepeatable, used.retries, this.#options)
        if (delay === undefined) throw error
        if (!isConflict) used.retries += 1
        await wait(delay, options.signal)
      }
    }
  }

  async *watch<State>(
    path: string,
    options: CallOptions,
    stateOf: (response: TextResponse) => Promise<State>,
  ): AsyncGenerator<State, void, void> {
    const seconds = Math.floor(Math.min(longestWait, this.#options.timeout / 1500)) // at most two thirds of the timeout
    let known: string | null | undefined
    for (let failures = 0; ; ) {
      let pause = shortPause
      try {
        const headers = known ? { 'if-none-match': known, prefer: `wait=${seconds}` } : undefined
        // After the first state, this loop repeats failed requests, so the sender must not.
        const call = { ...options, used: { retries: known === undefined ? 0 : Infinity } }
        const [head, state] = await this.#send({ path, headers }, call, async (response) => {
          const isSame = headers && response.head.status === 304
          return [response.head.headers, isSame ? undefined : await stateOf(response)] as const
        })
        const tag = head.get('etag')
        const isNew = tag !== known
        if (!isNew && !head.has('preference-applied')) pause = backoff({}, 9) // the longest possible delay
        known = tag
        failures = 0
        if (state !== undefined && (isNew || !tag)) yield state
      } catch (error) {
        if (known === undefined || !(error instanceof ItemStoreError)) throw error
        if (isItemMissing(error)) return
        const { code, status = 500 } = error
        // A lost connection or a 5xx may be temporary, for example while a service restarts.
        if (status < 500 && code !== 'CONNECTION_LOST') throw error
        pause = backoff(error, failures)
        failures += 1
      }
      await wait(pause, options.signal)
    }
  }
}

/** Returns a random idempotency key. Pages loaded without TLS have no `crypto.randomUUID`. */
export function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}

export function ifMatchHeaders({ ifMatch }: MatchOptions = {}): Record<string, string> {
  if (ifMatch === undefined) return {}
  return { 'if-match': typeof ifMatch === 'string' ? ifMatch : tagOf(ifMatch) }
}

/** @throws {TypeError} if the id can't be a path segment. No item has such an id. */
export function pathOf(id: string): string {
  // An empty id would lead to the list, and `fetch` would resolve `.` and `..`.
  if (!id || /^\.\.?$|\p{Surrogate}/u.test(id)) {
    throw wrong(`id is ${JSON.stringify(id)}; expected one path segment`)
  }
  return `/items/${encodeURIComponent(id)}`
}

export function listPath({ projectId }: ListOptions = {}): string {
  if (projectId === undefined) return '/items'
  requireText('project_id', projectId)
  requirePairs(projectId)
  return `/items?project_id=${encodeURIComponent(projectId)}`
}

function requireText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw wrong(`${name} is not text`)
}

/** Rejects a lone surrogate, which `fetch` would replace with U+FFFD. */
function requirePairs(text: string): void {
  if (/\p{Surrogate}/u.test(text)) throw wrong('lone surrogate; JSON can escape it')
}

/** Returns the text if it is valid JSON. Any other text could add members to the request. @throws {SyntaxError} */
export function jsonText(text: string): string {
  JSON.parse(text)
  return text
}

/** Returns a request body. Copies `project_id` from the data, where the service would ignore it. */
function itemRequestText(data: string, projectId: unknown = projectIn(data)): string {
  requirePairs(data)
  if (projectId == null) return `{"data":${data}}`
  requireText('project_id', projectId)
  return `{"data":${data},"project_id":${JSON.stringify(projectId)}}`
}

function projectIn(text: string): string | null | undefined {
  return /"project_id"|\\u00/.test(text) ? JSON.parse(text)?.project_id : undefined
}
