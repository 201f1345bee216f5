/** Creates, replaces and deletes items. The JSON text of request bodies (spec §2.2) is sent unchanged. @module */

import {
  type ItemRead,
  ItemStoreError,
  type ServiceRequest,
  type TextResponse,
} from '../../../src/client/client.js'
import { pathOf } from '../../../src/client/item-requests.js'
import { hasCode } from '../../../src/client/item-store-error.js'
import { isItemMissing } from '../../../src/client/sender.js'
import type { Item } from '../model/item.js'
import { send } from './requests.js'

export class ChangedError extends Error {
  override readonly name = 'ChangedError'
  readonly id: string
  readonly text: string | undefined // JSON text of the stored item; `undefined` if it was deleted

  constructor(id: string, text: string | undefined) {
    super('The item was changed elsewhere')
    this.id = id
    this.text = text
  }
}

const attempts = 5 // to change an item that other clients keep changing

/** @throws {ChangedError} if a request with this idempotency key created a different item (interface §4.11). */
export async function createItem(body: string, key: string): Promise<string> {
  const headers = { 'idempotency-key': key }
  try {
    const request = { method: 'POST', body, headers } as const
    return (await send(request, undefined, itemIn)).text
  } catch (error) {
    if (!(error instanceof ItemStoreError && error.itemId)) throw error
    throw new ChangedError(error.itemId, (await read(error.itemId)).text)
  }
}

/** @throws {ChangedError} if the stored item differs from the one that the user has seen. */
export async function replaceItem(seen: Item, body: string): Promise<string> {
  return (await change(seen, { method: 'PUT', body }, itemIn)).text
}

export async function deleteItem(seen: Item): Promise<void> {
  await change(seen, { method: 'DELETE' }, (response) => response.text())
}

async function read(id: string): Promise<ItemRead> {
  try {
    return await send({ path: pathOf(id) }, undefined, itemIn)
  } catch (error) {
    throw isGone(error) ? new ChangedError(id, undefined) : error
  }
}

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
      if (!hasCode(error, 'PRECONDITION_FAILED') || attempt === attempts) throw error
      tag = undefined
    }
  }
}

const itemIn = (response: TextResponse) => response.item()

/** Computes an item's probable `ETag`, to save a read. Without TLS, browsers may lack `crypto.subtle`. */
async function likelyTag(text: string): Promise<string | undefined> {
  const { subtle }: { subtle: SubtleCrypto | undefined } = crypto
  if (!subtle) return undefined
  const digest = new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(text)))
  const base64 = btoa(String.fromCharCode(...digest))
  return `"${base64.replaceAll('+', '-').replaceAll('/', '_').replace('=', '')}"`
}

function isGone(error: unknown): boolean {
  return error instanceof ItemStoreError && isItemMissing(error)
}
