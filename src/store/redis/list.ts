/**
 * The list of all items, bucket by bucket and page by page.
 *
 * The engine may show an item of a bucket twice while the bucket's hash shrinks, so the ids of one
 * bucket are remembered until its end.
 *
 * @module
 */

import type { ItemList } from '../item-store.js'
import { bytesField } from './scripts.js'

/** A part of a bucket. */
export interface Page {
  /** Fields and their texts in turn. */
  readonly entries: readonly Buffer[]
  /** Where the next page begins; `start` after the last one. */
  readonly cursor: string
  /** The session with the server that it came from. */
  readonly session: object | undefined
}

/** Reads the page of a bucket after another one, or its first. @throws {StoreError} */
export type ReadPage = (previous?: Page) => Promise<Page>

/** The cursor of a first page. */
export const start = '0'

const comma = Buffer.from(',')

/** Pages asked for before they are needed: their number at most, and about their bytes. */
const ahead = { pages: 8, bytes: 512 * 1024 }

/** @returns once the first items are there. @throws {StoreError} */
export async function openList(buckets: readonly ReadPage[]): Promise<ItemList> {
  const all = chunksOf(buckets)
  let first: IteratorResult<Buffer, void> | undefined = await all.next()

  async function* chunks(): AsyncGenerator<Buffer> {
    if (first?.done === false) yield first.value
    first = undefined
    yield* all
  }

  return {
    byteLength: undefined,
    chunks: chunks(),
    release() {
      first = undefined
      void all.return()
    },
  }
}

async function* chunksOf(buckets: readonly ReadPage[]): AsyncGenerator<Buffer, void> {
  const first: Promise<Page>[] = []
  let [asked, bytes, window, separator] = [0, 0, 1, Buffer.alloc(0)]
  for (const [place, readPage] of buckets.entries()) {
    for (const readNext of buckets.slice(asked, place + window)) {
      const page = readNext()
      page.catch(() => undefined) // who waits for it is told
      first.push(page)
      asked += 1
    }
    for await (const texts of textsOf(readPage, first.shift() ?? readPage())) {
      if (texts.length === 0) continue
      const chunk = Buffer.concat(texts.flatMap((text, n) => [n === 0 ? separator : comma, text]))
      separator = comma
      bytes += chunk.length
      yield chunk
    }
    // Ids are random, so the buckets are about as large as each other, unless there are few items.
    const likely = Math.ceil((ahead.bytes * (place + 1)) / Math.max(bytes, 1))
    window = Math.max(1, Math.min(likely, 2 * window, ahead.pages))
  }
}

/** The texts of one bucket, each once. */
async function* textsOf(readPage: ReadPage, first: Promise<Page>): AsyncGenerator<Buffer[]> {
  const seen = new Set<string>([bytesField])
  for (let page = await first; ; page = await readPage(page)) {
    const texts: Buffer[] = []
    for (let place = 0; place < page.entries.length; place += 2) {
      const [field, text] = page.entries.slice(place, place + 2)
      const id = field?.toString('latin1') ?? ''
      if (text === undefined || seen.has(id)) continue
      seen.add(id)
      texts.push(text)
    }
    yield texts
    if (page.cursor === start) return
  }
}
