/** Entity tags, `If-Match` and `If-None-Match` (RFC 9110 §8.8.3 and §13). @module */

import crypto, { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../interface/errors.js'
import type { EncodedItem } from '../item/item.js'
import { type Slices, sliceBytes } from '../item/slices.js'
import type { Awaitable } from '../store/item-store.js'
import type { Exchange } from './exchange.js'
import { runInTurns } from './pacing.js'

export type EntityTag = `"${string}"` | `W/"${string}"`

type TagList = '*' | readonly EntityTag[]

/** `If-Match` and `If-None-Match`. Dates are ignored, because no response has a `Last-Modified`. */
export interface Conditions {
  readonly ifMatch: TagList | undefined
  readonly ifNoneMatch: TagList | undefined
}

const longItem = 32 * 1024 // in bytes; from here on, tags are cached, because hashing takes 20 µs

/** Matches an element of a list of entity tags, possibly an empty one (RFC 9110 §5.6.1.2). Takes linear time. */
const element = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(,|$)/y

/** Returns an entity tag. It's a hash, so that all services that share a store return the same one. */
export function entityTag(bytes: Uint8Array): EntityTag {
  return `"${crypto.hash('sha256', bytes, 'base64url')}"`
}

/** Tags of long items by their buffer: the in-memory store returns the same buffer for each read. */
const longItemTags = new WeakMap<EncodedItem, Awaitable<EntityTag>>()

export function itemTag(item: EncodedItem): Awaitable<EntityTag> {
  if (item.length < longItem) return entityTag(item)
  const tag =
    longItemTags.get(item) ??
    (item.length > sliceBytes ? runInTurns(hugeItemTag(item)) : entityTag(item))
  longItemTags.set(item, tag)
  return tag
}

/** Returns the same tag as `entityTag`, but hashes in slices, which delay no other client. */
function* hugeItemTag(item: EncodedItem): Slices<EntityTag> {
  const sha256 = createHash('sha256')
  for (let start = 0; start < item.length; start += sliceBytes) {
    sha256.update(item.subarray(start, start + sliceBytes))
    yield
  }
  return `"${sha256.digest('base64url')}"`
}

/** @throws {ApiError} `BAD_REQUEST` if `If-Match` or `If-None-Match` is neither `*` nor a list of entity tags. */
export function conditionsOf(headers: IncomingHttpHeaders): Conditions | undefined {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined
  return {
    ifMatch: ifMatch === undefined ? undefined : tagsIn('If-Match', ifMatch),
    ifNoneMatch: ifNoneMatch === undefined ? undefined : tagsIn('If-None-Match', ifNoneMatch),
  }
}

/** Evaluates `If-Match`, which never matches a weak entity tag (RFC 9110 §13.1.1). */
export function isMatch({ ifMatch }: Conditions, tag: EntityTag): boolean {
  if (ifMatch === undefined || ifMatch === '*') return true
  return ifMatch.includes(tag) && !tag.startsWith('W/')
}

/** Evaluates `If-None-Match`, ignoring the `W/` of weak entity tags (RFC 9110 §13.1.2). */
export function isNoneMatch({ ifNoneMatch }: Conditions, tag: EntityTag): boolean {
  if (ifNoneMatch === undefined) return true
  return ifNoneMatch !== '*' && !ifNoneMatch.some((known) => opaque(known) === opaque(tag))
}

/** Returns whether a GET request for a file gets a 304. @throws {ApiError} `BAD_REQUEST`; see `conditionsOf`. */
export function isNotModified({ request }: Exchange, tag: EntityTag): boolean {
  const conditions = conditionsOf(request.headers)
  return conditions !== undefined && !isNoneMatch(conditions, tag)
}

export function requireMet(conditions: Conditions, tag: EntityTag): void {
  if (!isMatch(conditions, tag) || !isNoneMatch(conditions, tag)) throw preconditionFailed(tag)
}

export function preconditionFailed(tag: EntityTag): ApiError {
  const detail = 'If-Match or If-None-Match is not met; ETag has the current tag'
  return new ApiError('PRECONDITION_FAILED', detail, { headers: ['ETag', tag] })
}

function tagsIn(name: string, text: string): TagList {
  if (text === '*') return '*'
  const tags: EntityTag[] = []
  element.lastIndex = 0
  let end: string | undefined = ','
  while (end === ',') {
    const match = element.exec(text)
    if (match?.[1] !== undefined) tags.push(match[1] as EntityTag) // the pattern matches only entity tags
    end = match?.[2]
  }
  if (tags.length > 0 && end === '') return tags
  throw new ApiError('BAD_REQUEST', `${name} is neither * nor a list of entity tags`)
}

function opaque(tag: EntityTag): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag
}
