/** Takes the bytes of a connection apart into answers, and checks what is common to all of them. */

/** An answer as it came. Texts have a character for each byte. */
export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

export interface AnswerReader {
  /** Whole answers, without those of status 100. */
  readonly answers: RawAnswer[]
  /** How many answers of status 100 came before each. */
  readonly continued: Map<number, number>
  take(chunk: Buffer): void
  /** What has come of an answer that is not whole. */
  rest(): string
}

/** @param isHead whether the answer at a place is to a HEAD, and so has no body. */
export function readAnswersTo(isHead: (place: number) => boolean): AnswerReader {
  const answers: RawAnswer[] = []
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
      if (status === 100) continued.set(answers.length, (continued.get(answers.length) ?? 0) + 1)
      else answers.push({ status, head, body: bytes.toString('latin1', end, needed) })
      bytes = bytes.subarray(needed)
    }
    chunks = [bytes]
    length = bytes.length
  }

  return {
    answers,
    continued,
    take(chunk) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= needed) takeAnswers() // for each chunk of a long answer it would take long
    },
    rest: () => Buffer.concat(chunks).toString('latin1'),
  }
}

export function headerOf(head: string, name: string): string | undefined {
  return new RegExp(`\r\n${name}: *([^\r]*)\r\n`, 'i').exec(head)?.[1]
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** The error codes of each status (spec §7). */
const codes: Readonly<Record<number, readonly (string | undefined)[]>> = {
  400: ['BAD_REQUEST'],
  401: ['MISSING_TOKEN', 'TOKEN_EXPIRED', 'INVALID_TOKEN'],
  404: ['ROUTE_NOT_FOUND', undefined],
  405: ['METHOD_NOT_ALLOWED'],
  413: ['PAYLOAD_TOO_LARGE'],
  422: ['VALIDATION_ERROR'],
  431: ['HEADERS_TOO_LARGE'],
  503: ['SERVICE_UNAVAILABLE'],
  507: ['STORE_FULL'],
}

/**
 * What is wrong with the shape of an answer, whatever it is to.
 * @param sessionIds those of all answers before, to which its own is added.
 */
export function shapeProblem(
  { status, head, body }: RawAnswer,
  isHead: boolean,
  sessionIds: Set<string>,
): string | undefined {
  const sessionId = headerOf(head, 'x-session-id') ?? ''
  if (!uuid.test(sessionId)) return `its session id is "${sessionId}"`
  if (sessionIds.has(sessionId)) return 'its session id was that of an earlier answer'
  sessionIds.add(sessionId)
  if (headerOf(head, 'access-control-allow-origin') !== '*') return 'it has no CORS headers'
  if (status === 401 && headerOf(head, 'www-authenticate') !== 'Bearer') {
    return 'it has no challenge'
  }
  if (status === 204) return undefined
  if (headerOf(head, 'content-type') !== 'application/json') return 'it is not JSON'
  if (!/^\d+$/.test(headerOf(head, 'content-length') ?? '')) return 'it has no length'
  if (isHead) return undefined
  if (status < 400) {
    return body.startsWith(`{"session_id":"${sessionId}",`)
      ? undefined
      : 'its body has another session id'
  }
  const { detail } = JSON.parse(body)
  if (typeof detail?.detail !== 'string' || detail.session_id !== sessionId) {
    return 'it is not in the shape of errors'
  }
  return codes[status]?.includes(detail.error_code)
    ? undefined
    : `it has the code ${detail.error_code}`
}
