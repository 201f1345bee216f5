/** Work for a crowd of requests, in portions between which other requests are served. @module */

/** How long a crowd may be worked for in one turn of the event loop, in milliseconds. */
const portionTime = 2

/** Maximum number of responses begun in one turn: each takes about 20 µs, half of it in the system. */
const portionLength = 32

/** No more responses are begun in a turn once their bodies have this many bytes, which the system copies in 0.2 ms. */
const portionBytes = 1024 * 1024

/** When the work in this turn has begun, as a value of `performance.now()`. */
let begun: number | undefined

/** Whether the work has taken its time in this turn, and has to go on in the next one. */
export function isPortionOver(): boolean {
  const now = performance.now()
  if (begun === undefined) {
    begun = now
    setImmediate(() => {
      begun = undefined
    })
  }
  return now - begun > portionTime
}

/** Begins a response in one of the next turns. @param bodyBytes length of its body. */
export type BeginLater = (begin: () => void, bodyBytes?: number) => void

/** Responses begin in the order of the calls. */
export function createPortions(): BeginLater {
  let queue: { readonly begin: () => void; readonly bodyBytes: number }[] = []

  function beginPortion(): void {
    let [length, bytes] = [0, 0]
    for (const { begin, bodyBytes } of queue) {
      if (length === portionLength || bytes >= portionBytes) break
      length += 1
      bytes += bodyBytes
      begin()
    }
    queue = queue.slice(length)
    if (queue.length > 0) setImmediate(beginPortion)
  }

  return (begin, bodyBytes = 0) => {
    queue.push({ begin, bodyBytes })
    if (queue.length === 1) setImmediate(beginPortion)
  }
}
