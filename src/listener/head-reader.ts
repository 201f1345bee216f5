/** Keeps the bytes of the request head that Node's parser is reading, since Node passes on only what it has parsed. @module */

import type { IncomingMessage } from 'node:http'
import { onExecute, onMessageBegin, type Parser } from './node-internals.js'

const space = 0x20
const nothing: Buffer = Buffer.alloc(0)

export class HeadReader {
  /** Whether the parser has read the beginning of a head, but not its end. */
  isReading = false
  readonly #parser: Parser
  readonly #maxBytes: number
  readonly #onKept: (bytes: number) => void
  /** The end of the chunks before the current one, if the head that is being read began in them. */
  #kept = nothing

  /** @param onKept called with the number of bytes that are kept, after each change. */
  constructor(parser: Parser, maxBytes: number, onKept: (bytes: number) => void) {
    this.#parser = parser
    this.#maxBytes = maxBytes
    this.#onKept = onKept
    parser[onMessageBegin] = () => {
      this.isReading = true
    }
    const executed = parser[onExecute]
    parser[onExecute] = (result) => {
      executed(result)
      if (this.isReading) this.keep(parser.getCurrentBuffer())
    }
  }

  /** Must be called after each chunk that the parser does not read from the system itself. */
  readonly keep = (chunk: Buffer): void => {
    if (!this.isReading) return
    const bytes = Buffer.concat([this.#kept, chunk]).subarray(-this.#maxBytes)
    this.#kept = Buffer.allocUnsafeSlow(bytes.length) // has memory of its own, so that its length is all that it takes
    bytes.copy(this.#kept)
    this.#onKept(this.#kept.length)
  }

  /** Must be called when the parser has read a whole head. */
  end(): void {
    this.isReading = false
    if (this.#kept.length === 0) return
    this.#kept = nothing
    this.#onKept(0)
  }

  /** Returns what has arrived of the head, after bytes that came before it. May only be called by the parser. */
  seen(): Buffer {
    const chunk = this.#parser.getCurrentBuffer()
    return this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk])
  }

  /** Returns whether the unfinished head is that of a HEAD request. @param chunk input up to an error, if any. */
  isOfHeadRequest(chunk = nothing): boolean {
    if (!this.isReading) return false
    const text = Buffer.concat([this.#kept, chunk]).toString('latin1')
    const parts = text.replace(/\r\n\r\n$/, '').split('\r\n\r\n')
    const head = parts.at(-1)?.trimStart() ?? ''
    if (/^[A-Z]+ /.test(head)) return head.startsWith('HEAD ')
    // The head follows a body, which may end with any byte.
    const at = head.lastIndexOf('HEAD ')
    return at > 0 && /^HEAD (?: *\S+ +HTTP\/1\.[01]\r\n|[^\r]*$)/.test(head.slice(at))
  }
}

/**
 * Returns where the head that ends at `end` begins; -1 if it began before `bytes`. Its lines are counted from the end,
 * because a search from the start could find a body that looks like a head.
 */
export function startOfHead(bytes: Buffer, end: number, request: IncomingMessage): number {
  const { method = '', url = '', httpVersion, rawHeaders } = request
  let at = end - 2 // the beginning of the empty line
  for (let lines = rawHeaders.length / 2; lines > 0; lines -= 1) {
    if (at < 2) return -1
    at = bytes.subarray(0, at - 2).lastIndexOf('\n') + 1
  }
  at -= 2 // the end of the request line
  if (httpVersion !== '0.9')
    at = afterWord(bytes, bytes.subarray(0, Math.max(at, 0)).lastIndexOf(' '))
  const start = afterWord(bytes, at - url.length) - method.length
  return bytes.indexOf(method, start, 'latin1') === start ? start : -1
}

/** Returns the end of the word before the spaces before `at`. */
function afterWord(bytes: Buffer, at: number): number {
  let end = at
  while (bytes[end - 1] === space) end -= 1
  return end
}
