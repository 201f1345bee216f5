/** Checks responses, and determines the outcome of each request as far as a client can tell. */

import { type ErrorCode, errorKinds } from '../../../src/interface/errors.js'
import { headerOf, type RawAnswer } from '../../support/socket.js'
import type { Played } from './play.js'
import { isBodyWanted, type Request } from './request.js'

export interface Act {
  readonly request: Request
  readonly answer: RawAnswer | undefined
  readonly outcome: 'done' | 'refused' | 'unknown'
}

/** Pairs requests with responses. @param sessionIds of earlier responses. @throws {Error} if a response is wrong. */
export function actsOf(played: Played, sessionIds: Set<string>): Act[] {
  const { requests, reader, plan, sentBytes } = played
  const last = requests.findIndex(({ isLast }) => isLast)
  let offset = 0
  const acts = requests.map((request, place): Act => {
    const answer = reader.answers[place]
    const isWhole = sentBytes >= offset + request.bytes.length
    const isHeadSent = sentBytes >= offset + request.headLength
    offset += request.bytes.length
    const isAfterLast = last >= 0 && place > last
    if (answer !== undefined) {
      const problem = isAfterLast
        ? 'comes after the last response'
        : (answerProblem(request, answer, isWhole, reader.continued.get(place) ?? 0) ??
          shapeProblem(answer, request.isHead, sessionIds))
      if (problem !== undefined) throw new Error(`${describe(request, answer)}: ${problem}`)
      return { request, answer, outcome: answer.status < 300 ? 'done' : 'refused' }
    }
    const isUnknown = !isAfterLast && (isWhole || (isHeadSent && request.plan.what === 'delete'))
    return { request, answer, outcome: isUnknown ? 'unknown' : 'refused' }
  })

  if (reader.answers.length > requests.length) {
    throw new Error(`a response without a request: ${reader.answers[requests.length]?.head}`)
  }
  const isPatient = plan.reading !== 'never' && ['wait', 'half-close'].includes(plan.ending.kind)
  // Responses may be lost if the client is still sending when the service closes the connection.
  const mayLoseAnswers = last >= 0 && (last < requests.length - 1 || requests[last]?.isBroken)
  if (!isPatient || mayLoseAnswers) return acts
  const { isLate, isEnded, error } = played
  const [responses, rest] = [reader.answers.length, reader.rest()]
  const complete = requests.length - (plan.unsent > 0 ? 1 : 0)
  if (isLate || responses < Math.min(complete, last < 0 ? complete : last + 1) || rest !== '') {
    const state = { responses, rest: rest.slice(0, 300), sentBytes, isLate, isEnded, error }
    const heads = requests.map((request) => describe(request)).join('\n')
    throw new Error(`responses are late or incomplete: ${JSON.stringify(state)}\n${heads}`)
  }
  return acts
}

const invalidHttp = 'not valid HTTP'

function answerProblem(
  request: Request,
  { status, head, body }: RawAnswer,
  isWhole: boolean,
  continued: number,
): string | undefined {
  const { statuses, echo, isLast, isBroken, mayContinue } = request
  if (continued > (mayContinue && isBodyWanted(request) ? 1 : 0)) return 'unexpected 100 Continue'
  if (!isWhole) {
    if (status === 400) return undefined
    return request.tail !== undefined && status < 300 ? 'the request was incomplete' : undefined
  }
  if (!statuses.includes(status)) return `expected ${statuses}`
  if (![413, 503, 507].includes(status) && !`${head}${body}`.includes(echo)) {
    return `the response does not contain "${echo}" and belongs to another request`
  }
  const isClosing = headerOf(head, 'connection')?.toLowerCase() === 'close'
  // The service may send a response without `Connection: close` before it finds an error in the request body.
  if (isClosing !== isLast && !(isBroken && !body.includes(invalidHttp))) {
    return isLast ? 'the connection stays open' : 'the connection is closed'
  }
  return undefined
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function shapeProblem(
  { status, head, body }: RawAnswer,
  isHead: boolean,
  sessionIds: Set<string>,
): string | undefined {
  const sessionId = headerOf(head, 'x-session-id') ?? ''
  if (!uuid.test(sessionId)) return `the session id is "${sessionId}"`
  if (sessionIds.has(sessionId)) return 'an earlier response has the same session id'
  sessionIds.add(sessionId)
  if (headerOf(head, 'access-control-allow-origin') !== '*') return 'there are no CORS headers'
  if (status === 401 && headerOf(head, 'www-authenticate') !== 'Bearer') return 'no challenge'
  if (status === 204) return undefined
  if (headerOf(head, 'content-type') !== 'application/json') return 'the response is not JSON'
  if (!/^\d+$/.test(headerOf(head, 'content-length') ?? '')) return 'there is no Content-Length'
  if (isHead) return undefined
  if (status < 400) {
    const isOwn = body.startsWith(`{"session_id":"${sessionId}",`)
    return isOwn ? undefined : 'the body has another session id'
  }
  const { detail } = JSON.parse(body)
  if (typeof detail?.detail !== 'string' || detail.session_id !== sessionId) {
    return 'the body is not an error body'
  }
  const code: ErrorCode | undefined = detail.error_code
  const expected = code === undefined ? 404 : errorKinds[code]?.status
  return expected === status ? undefined : `the error code ${code} has another status`
}

function describe({ plan, bytes, headLength }: Request, answer?: RawAnswer): string {
  const head = bytes.toString('latin1', 0, Math.min(headLength, 300))
  const given =
    answer === undefined ? '' : `\n--- response\n${answer.head}${answer.body.slice(0, 500)}\n---`
  return `${plan.what}\n--- ${bytes.length} bytes\n${head}${given}`
}
