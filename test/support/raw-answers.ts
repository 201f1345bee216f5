/** Splits the bytes that arrive on a connection into HTTP responses. */

/** A response as it arrived. Its strings have one character for each byte. */
export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** @param isHead returns whether the response at an index belongs to a HEAD request. */
export function answerReader(isHead: (place: number) => boolean = () => false) {
  /** Complete responses, except those with status 100. */
  const answers: RawAnswer[] = []
  /** Complete responses, including those with status 100. */
  const all: RawAnswer[] = []
  /** By the index of a final response, the number of responses with status 100 that came before it. */
  const continued = new Map<number, number>()
  let chunks: Buffer[] = []
  let length = 0
  let needed = 0

  function takeAnswers(): void {
    let bytes = Buffer.concat(chunks)
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n') + 4
      if (end < 4) {
        needed = 0
        break
      }
      const head = bytes.toString('latin1', 0, end)
      const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
      const hasBody = status >= 200 && status !== 204 && !isHead(answers.length)
      needed = end + (hasBody ? Number(headerOf(head, 'content-length') ?? 0) : 0)
      if (bytes.length < needed) break
      const answer = { status, head, body: bytes.toString('latin1', end, needed) }
      all.push(answer)
      if (status === 100) continued.set(answers.length, (continued.get(answers.length) ?? 0) + 1)
      else answers.push(answer)
      bytes = bytes.subarray(needed)
    }
    chunks = [bytes]
    length = bytes.length
  }

  return {
    answers,
    all,
    continued,
    take(chunk: Buffer) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= needed) takeAnswers() // parsing after every chunk of a long response would be slow
    },
    rest: () => Buffer.concat(chunks).toString('latin1'),
  }
}

export function headerOf(head: string, name: string): string | undefined {
  return new RegExp(`\r\n${name}: *([^\r]*)\r\n`, 'i').exec(head)?.[1]
}
