/** The requests of the page: those of the public interface, with the texts of items verbatim. @module */

import {
  type ItemRead,
  ItemStoreClient,
  ItemStoreError,
  type ServiceRequest,
  type TextResponse,
} from '../../src/client/client.js'
import { prefix } from '../../src/interface/names.js'
import { currentToken } from '../shared/session.js'
import type { Item } from './item.js'

/**
 * Every method throws an {@link ItemStoreError} when the service refuses the request or cannot be reached.
 * Bodies are item requests as JSON text (spec §2.2), results are items as JSON text.
 */
export interface ItemService {
  /**
   * Lists the texts of all items or of one project's, in parts as they arrive.
   * @param onHead called with the headers of the list, before its first part.
   */
  list(
    project: string | undefined,
    signal: AbortSignal,
    onHead: (headers: Headers) => void,
  ): AsyncIterable<readonly string[]>
  /** Resolves once the list has another tag than this one. */
  changed(project: string | undefined, tag: string, signal: AbortSignal): Promise<void>
  /**
   * @param key the same for each attempt to create the same item, so that there will be only one (interface §4.11).
   * @throws {ChangedError} when an earlier attempt has created it with another text.
   */
  create(body: string, key: string): Promise<string>
  /** Replaces the item as the user has seen it. @throws {ChangedError} */
  replace(seen: Item, body: string): Promise<string>
  /** The same for a delete. */
  delete(seen: Item): Promise<void>
}

export class ChangedError extends Error {
  override readonly name = 'ChangedError'
  readonly id: string
  /** What is stored now; `undefined` for nothing. */
  readonly text: string | undefined

  constructor(id: string, text: string | undefined) {
    super('The item was changed elsewhere')
    this.id = id
    this.text = text
  }
}

/** A service that restarts is back within these. */
const retries = 2
/** How long a read waits for a change, in seconds: less than the client's timeout. */
const changeWait = 20
/** Before the next such read where the service did not wait, in milliseconds. */
const longPause = 5_000
/** An item that becomes another one between read and change so often is one that nobody can edit. */
const attempts = 5

/** There is no token that could be sent. */
class NoTokenError extends Error {
  override readonly name = 'NoTokenError'
}

/** Sends a request to the service that has served this page, with the token that the tab has now. */
const send: ItemStoreClient['request'] = async (request, options, read) => {
  const token = currentToken()
  if (token === '') throw new NoTokenError('There is no token')
  // RFC 6750 §2.1
  if (!/^[\w.~+/=-]+$/.test(token)) {
    throw new NoTokenError('This is not a token: is there white space in it?')
  }
  const client = new ItemStoreClient({ baseUrl: location.origin + prefix, token, retries })
  return await client.request(request, options, read)
}

/** The service that has served this page. */
export function connect(): ItemService {
  /** @throws {ChangedError} when there is no such item. */
  async function read(id: string): Promise<ItemRead> {
    try {
      return await send({ path: pathOf(id) }, undefined, itemIn)
    } catch (error) {
      throw isGone(error) ? new ChangedError(id, undefined) : error
    }
  }

  /** Changes an item only while it is what the user has seen. */
  async function change<R>(
    { id, text }: Item,
    request: Pick<ServiceRequest, 'method' | 'body'>,
    result: (response: TextResponse) => Promise<R>,
  ): Promise<R> {
    let tag = await likelyTag(text)
    for (let attempt = 1; ; attempt += 1) {
      if (tag === undefined) {
        const now = await read(id)
        if (now.text !== text) throw new ChangedError(id, now.text)
        tag = now.tag ?? '*'
      }
      try {
        const headers = { 'if-match': tag }
        return await send({ ...request, path: pathOf(id), headers }, undefined, result)
      } catch (error) {
        if (isGone(error)) throw new ChangedError(id, undefined)
        const isChanged = error instanceof ItemStoreError && error.status === 412
        if (!isChanged || attempt === attempts) throw error
        tag = undefined
      }
    }
  }

  return {
    async *list(projectId, signal, onHead) {
      const response = await send({ path: listPath(projectId) }, { signal }, (each) => each)
      onHead(response.head.headers)
      yield* response.texts()
    },
    async changed(projectId, tag, signal) {
      const headers = { 'if-none-match': tag, prefer: `wait=${changeWait}` }
      for (;;) {
        const request = { method: 'HEAD', path: listPath(projectId), headers } as const
        const head = await send(request, { signal }, (response) => response.head)
        if (head.status !== 304) return
        if (head.headers.has('preference-applied')) continue
        await new Promise((resolve) => setTimeout(resolve, longPause))
        signal.throwIfAborted()
      }
    },
    async create(body, key) {
      const headers = { 'idempotency-key': key }
      try {
        const request = { method: 'POST', body, headers } as const
        return (await send(request, undefined, itemIn)).text
      } catch (error) {
        const isConflict = error instanceof ItemStoreError && error.code === 'IDEMPOTENCY_CONFLICT'
        if (!isConflict || !error.itemId) throw error
        throw new ChangedError(error.itemId, (await read(error.itemId)).text)
      }
    },
    async replace(seen, body) {
      return (await change(seen, { method: 'PUT', body }, itemIn)).text
    },
    async delete(seen) {
      await change(seen, { method: 'DELETE' }, (response) => response.text())
    },
  }
}

const itemIn = (response: TextResponse) => response.item()

const pathOf = (id: string) => `/items/${encodeURIComponent(id)}`

function listPath(project: string | undefined): string {
  return project === undefined ? '/items' : `/items?project_id=${encodeURIComponent(project)}`
}

/**
 * The tag that the service gives an item with this text. Should it be another one, the condition is not met and the item
 * is read first; otherwise that read is saved. `undefined` where the platform computes no digests: in pages that have
 * neither TLS nor come from this machine.
 */
async function likelyTag(text: string): Promise<string | undefined> {
  const { subtle }: { subtle: SubtleCrypto | undefined } = crypto
  if (!subtle) return undefined
  const digest = new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(text)))
  const base64 = btoa(String.fromCharCode(...digest))
  return `"${base64.replaceAll('+', '-').replaceAll('/', '_').replace('=', '')}"`
}

/** A key for one item that is to be created. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-')
}

const unknownOutcomes = ['CONNECTION_LOST', 'TIMEOUT', 'STORE_UNAVAILABLE', 'INTERNAL_ERROR']

/** Whether a create, replace or delete may have taken effect although it failed (spec §7.3). */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof ItemStoreError && unknownOutcomes.includes(error.code ?? '')
}

/** Whether an error says that the item does not exist any more. */
function isGone(error: unknown): boolean {
  return error instanceof ItemStoreError && error.status === 404 && error.code === undefined
}

/** Whether an error is about the token, so that another one is needed. */
export function needsToken(error: unknown): boolean {
  return error instanceof NoTokenError || (error instanceof ItemStoreError && error.status === 401)
}

/** Whether an error would be the same for any other item, so that there is no point in going on. */
export function concernsAll(error: unknown): boolean {
  if (error instanceof ChangedError) return false
  return !(error instanceof ItemStoreError) || [undefined, 401, 429, 503].includes(error.status)
}

/** An error for people, with what helps to find it in the log. */
export function messageFor(error: unknown): string {
  if (!(error instanceof ItemStoreError))
    return error instanceof Error ? error.message : String(error)
  const { message, status, code, sessionId } = error
  const details = [status, code, sessionId && `session ${sessionId}`].filter(Boolean).join(' · ')
  return `${code === 'CONNECTION_LOST' ? 'The service cannot be reached' : message} (${details})`
}
