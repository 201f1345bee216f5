/** Checks responses, and determines the outcome of each request as far as a client can tell. */

import { headerOf, type RawAnswer } from '../../support/socket.js'
import type { Played } from './play.js'
import type { Request } from './request.js'

export interface Act {
  readonly request: Request
  readonly answer: RawAnswer | undefined
  readonly outcome: 'done' | 'refused' | 'unknown'
}

/** Pairs requests with responses. @throws {Error} if a response is wrong. */
export function actsOf(played: Played): Act[] {
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
        : answerProblem(request, answer, isWhole)
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
): string | undefined {
  const { statuses, isLast, isBroken } = request
  if (!isWhole) {
    if (status === 400) return undefined
    return request.tail !== undefined && status < 300 ? 'the request was incomplete' : undefined
  }
  if (!statuses.includes(status)) return `expected ${statuses}`
  const isClosing = headerOf(head, 'connection')?.toLowerCase() === 'close'
  // The service may send a response without `Connection: close` before it finds an error in the request body.
  if (isClosing !== isLast && !(isBroken && !body.includes(invalidHttp))) {
    return isLast ? 'the connection stays open' : 'the connection is closed'
  }
  return undefined
}

function describe({ plan, bytes, headLength }: Request, answer?: RawAnswer): string {
  const head = bytes.toString('latin1', 0, Math.min(headLength, 300))
  const given =
    answer === undefined ? '' : `\n--- response\n${answer.head}${answer.body.slice(0, 500)}\n---`
  return `${plan.what}\n--- ${bytes.length} bytes\n${head}${given}`
}
